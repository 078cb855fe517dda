package v1

import "heliograph/rest"

// The patterns that several path parameters share.
const (
	idDoc     = "`shard.realm.num`; shard and realm are optional."
	idPattern = `(\d{1,4}\.)?(\d{1,5}\.)?\d{1,12}`
)

// pathDocs documents the path parameters for the OpenAPI document. The examples are from the demo network unless its values depend on the time.
func pathDocs() map[string]rest.PathDoc {
	account := rest.PathDoc{Doc: "The account: an entity id, an EVM address, or an alias in base32.", Example: "0.0.1001"}
	contract := rest.PathDoc{Doc: "The contract: an entity id or an EVM address.", Example: "0.0.3001"}
	token := rest.PathDoc{Doc: "The token's id: " + idDoc, Example: "0.0.2001"}
	topic := rest.PathDoc{Doc: "The topic's id: " + idDoc, Pattern: idPattern, Example: "0.0.4001"}
	schedule := rest.PathDoc{Doc: "The schedule's id: " + idDoc, Pattern: idPattern, Example: "0.0.5001"}
	hash := rest.PathDoc{
		Doc:     "The id `shard.realm.num-seconds-nanoseconds` of the transaction, its hash, or the hash of an Ethereum transaction.",
		Example: "0.0.1001-1700000000-000000000",
	}
	result := hash
	result.Doc += " Or a consensus timestamp `seconds.nanoseconds`."
	timestamp := rest.PathDoc{
		Doc: "The consensus timestamp: seconds and nanoseconds since 1970.", Pattern: `\d{1,10}(\.\d{1,9})?`,
		Example: "1700000000.000000001",
	}
	return map[string]rest.PathDoc{
		"accounts/{id}":                    account,
		"accounts/{idOrAliasOrEvmAddress}": account,
		"accounts/{ownerId}":               account,
		"blocks/{hashOrNumber}": {
			Doc:     "The block's hash, its first 32 bytes, or its number.",
			Pattern: `(0x)?([0-9A-Fa-f]{64}|[0-9A-Fa-f]{96})|\d{1,19}`, Example: "1",
		},
		"contracts/{contractIdOrAddress}": contract,
		"contracts/{id}":                  contract,
		"contracts/{idOrAddress}":         contract,
		"hooks/{hookId}":                  {Doc: "The hook's number.", Pattern: `\d{1,19}`, Example: "1"},
		"messages/{consensusTimestamp}":   timestamp,
		"messages/{sequenceNumber}": {
			Doc: "The sequence number of the message, starting at 1, or its consensus timestamp.", Pattern: `\d{1,19}(\.\d{1,9})?`,
			Example: "1",
		},
		"nfts/{serialNumber}":                {Doc: "The serial number, starting at 1.", Pattern: `\d{1,19}`, Example: "1"},
		"results/{consensusTimestamp}":       timestamp,
		"results/{idOrHash}":                 hash,
		"results/{timestamp}":                timestamp,
		"results/{transactionIdOrHash}":      result,
		"schedules/{id}":                     schedule,
		"schedules/{scheduleId}":             schedule,
		"tokens/{id}":                        token,
		"tokens/{tokenId}":                   token,
		"topics/{id}":                        topic,
		"topics/{topicId}":                   topic,
		"transactions/{idOrHash}":            hash,
		"transactions/{transactionIdOrHash}": hash,
	}
}
