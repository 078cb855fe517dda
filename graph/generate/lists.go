package main

// namespaces are the objects without rows. Their fields are resolved one by one, and plans start below them.
var namespaces = map[string]bool{"Query": true, "Mutation": true, "Subscription": true, "Network": true}

// unbatched are the fields that no plan reads for many parents at once, with the reasons. A plan reads such a field of
// a row for each row separately.
var unbatched = map[string]string{
	"Contract.call":           "each call runs a contract, within its own limits",
	"ContractResult.prestate": "each state is read in several steps, within its own limits",
	"ContractResult.trace":    "each trace runs a transaction again, within its own limits",
}

// maxUnbatched is the maximum length of the list.
const maxUnbatched = 3

// queues are the functions that queue reading objects of a type by their keys.
var queues = map[string]string{
	"Account": "entities.QueueAccounts", "Block": "transactions.QueueBlocksAt", "Contract": "entities.QueueContracts",
	"ContractResult": "transactions.QueueContractResultsAt", "Entity": "queueEntities", "File": "entities.QueueFiles",
	"NetworkNode": "entities.QueueNetworkNodes", "Token": "entities.QueueTokens", "Topic": "queueTopics",
	"Transaction": "transactions.QueueTransactionsAt",
}

// keys are the fields of the row types whose values identify their objects, for types whose objects are rows of lists.
// Their global ids consist of these.
var keys = map[string][]string{
	"Airdrop":        {"SenderID", "ReceiverID", "TokenID", "SerialNumber"},
	"ContractAction": {"ConsensusTimestamp", "PayerAccountID", "Index"}, "ContractState": {"ContractID", "Slot"},
	"CryptoAllowance": {"OwnerID", "SpenderID"},
	"HookSlot":        {"OwnerID", "HookID", "Key"}, "NFTTransaction": {
		"NFT.TokenID", "NFT.SerialNumber",
		"ConsensusTimestamp",
	},
	"NFTAllowance": {"OwnerID", "SpenderID", "TokenID"}, "StakingReward": {"AccountID", "ConsensusTimestamp"},
	"TokenAllowance": {"OwnerID", "SpenderID", "TokenID"}, "TokenHolder": {"TokenID", "AccountID"},
	"TokenRelationship": {"AccountID", "TokenID"},
	"Transfer":          {"ConsensusTimestamp", "AccountID", "TokenID"},
}

// Keys returns the fields that identify the objects of types, for templates.
func (*fields) Keys() map[string][]string { return keys }
