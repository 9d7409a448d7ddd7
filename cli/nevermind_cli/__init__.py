"""The command line: reads argv and the environment, prints, starts what was asked for."""
