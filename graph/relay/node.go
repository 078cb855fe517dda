package relay

// Node is anything with a global id.
type Node interface{ IsNode() }

// Service is the result of a federation router's _service query.
type Service struct{ SDL string }

// Entity is an account, contract, file, schedule, token or topic.
type Entity interface{ IsEntity() }
