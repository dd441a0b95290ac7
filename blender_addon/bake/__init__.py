"""Bakes of one or several bodies, in a child process or in this one."""
