"""Contact: IPC barriers between surfaces, penalty springs, friction, and collision proxies."""
