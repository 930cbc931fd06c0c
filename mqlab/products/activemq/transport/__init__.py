"""What clients and bridges reach a broker over: sockets, the commands on them, and how addresses are found."""
