package main

// namespaces are the objects without rows. Their fields are resolved one by one, and plans start below them.
var namespaces = map[string]bool{"Query": true, "Mutation": true, "Subscription": true, "Network": true}

// queues are the functions that queue reading objects of a type by their keys.
var queues = map[string]string{
	"Account": "entities.QueueAccounts", "Block": "transactions.QueueBlocksAt", "Contract": "entities.QueueContracts",
	"ContractResult": "transactions.QueueContractResultsAt", "Entity": "queueEntities", "File": "entities.QueueFiles",
	"NetworkNode": "entities.QueueNetworkNodes", "Token": "entities.QueueTokens", "Topic": "entities.QueueTopics",
	"Transaction": "transactions.QueueTransactionsAt",
}

// keys are the fields of the row types whose values identify their objects, in the order of the parts of their global
// ids, separated by spaces. Network nodes have a function: the parts of their ids are separated in another way.
var keys = map[string]string{
	"Account":           "EntityID",
	"Airdrop":           "SenderID ReceiverID TokenID SerialNumber",
	"Block":             "Number",
	"Contract":          "EntityID",
	"ContractAction":    "ConsensusTimestamp PayerAccountID Index",
	"ContractLog":       "ConsensusTimestamp Index",
	"ContractResult":    "ConsensusTimestamp",
	"ContractState":     "ContractID Slot",
	"CryptoAllowance":   "OwnerID SpenderID",
	"File":              "EntityID",
	"Hook":              "OwnerID HookID",
	"HookSlot":          "OwnerID HookID Key",
	"NFT":               "TokenID SerialNumber",
	"NFTAllowance":      "OwnerID SpenderID TokenID",
	"NFTTransaction":    "NFT.TokenID NFT.SerialNumber ConsensusTimestamp",
	"RegisteredNode":    "RegisteredNodeID",
	"Schedule":          "EntityID",
	"StakingReward":     "AccountID ConsensusTimestamp",
	"StatusComponent":   "Code",
	"StatusIncident":    "Code",
	"StatusMaintenance": "Code",
	"StatusPage":        "Code",
	"StatusUpdate":      "Code",
	"Token":             "EntityID",
	"TokenAllowance":    "OwnerID SpenderID TokenID",
	"TokenHolder":       "TokenID AccountID",
	"TokenRelationship": "AccountID TokenID",
	"Topic":             "EntityID",
	"TopicMessage":      "ConsensusTimestamp",
	"Transaction":       "ConsensusTimestamp",
	"Transfer":          "ConsensusTimestamp AccountID TokenID",
}
