"""Bytes into frames: lines and header-framed messages.

Framings are sans-I/O: they are fed what was read and give back buffers that
begin and end at frame boundaries, with the frames in them.
"""
