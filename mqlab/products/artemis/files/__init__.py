"""Lab files and Artemis' own `broker.xml`."""
