package relay

// Node is anything with a global id.
type Node interface{ IsNode() }

// Entity is an account, contract, file, schedule, token or topic.
type Entity interface{ IsEntity() }
