"""Networks of brokers: connectors, the bridges that they make, and the demand that crosses them."""
