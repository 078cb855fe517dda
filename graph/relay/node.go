package relay

// Node is anything with a global id.
type Node interface{ IsNode() }

// Service is what a router of federated graphs asks for.
type Service struct{ SDL string }

// Entity is an account, contract, file, schedule, token or topic.
type Entity interface{ IsEntity() }
