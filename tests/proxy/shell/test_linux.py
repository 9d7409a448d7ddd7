"""The two process attributes, asked of the kernel itself."""

from __future__ import annotations

import sys

import pytest

from proxy.shell.in_process import told

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="attributes of Linux processes")


@linux_only
def test_an_orphan_falls_to_us_once_we_adopt() -> None:
    """sh starts a sleeper and ends; whose child is the sleeper then?"""
    parent, us = told(
        """
        import json, os, subprocess, time
        from nevermind.shell.linux import adopt_orphans
        assert adopt_orphans()
        sh = subprocess.run(["sh", "-c", "sleep 60 >/dev/null & echo $!"], stdout=subprocess.PIPE)
        orphan = int(sh.stdout)
        stat = open(f"/proc/{orphan}/stat").read()
        print(json.dumps([int(stat.rpartition(")")[2].split()[1]), os.getpid()]))
        os.kill(orphan, 9)
        """
    )
    assert parent == us


@linux_only
def test_the_kernel_is_told_to_signal_us_when_our_parent_ends() -> None:
    before, after = told(
        """
        import ctypes, json
        from nevermind.shell.linux import die_with_parent
        wanted = ctypes.c_int()
        def ask():
            ctypes.CDLL(None).prctl(2, ctypes.byref(wanted))  # PR_GET_PDEATHSIG
            return wanted.value
        before = ask()
        assert die_with_parent(10)
        print(json.dumps([before, ask()]))
        """
    )
    assert (before, after) == (0, 10)


def test_elsewhere_both_say_no() -> None:
    answers = told(
        """
        import json, sys
        sys.platform = "other"
        from nevermind.shell.linux import adopt_orphans, die_with_parent
        print(json.dumps([adopt_orphans(), die_with_parent(9)]))
        """
    )
    assert answers == [False, False]


def test_without_the_extension_module_both_say_no() -> None:
    answers = told(
        """
        import json, sys
        sys.modules["_ctypes"] = None
        from nevermind.shell.linux import adopt_orphans, die_with_parent
        print(json.dumps([adopt_orphans(), die_with_parent(9)]))
        """
    )
    assert answers == [False, False]
