package main

// namespaces are the objects that have no rows behind them. Their fields are resolved like root fields, and plans start below them.
var namespaces = map[string]bool{"Query": true, "Mutation": true, "Subscription": true, "Network": true}

// unbatched are the fields that no plan reads for many parents at once, with the reasons. A plan around a field of a row reads it for each row by itself, and
// writes the rest.
var unbatched = map[string]string{
	"Contract.call":        "each call runs a contract by itself, within limits of its own",
	"ContractResult.trace": "each trace runs a transaction again, within limits of its own",

	"Network.supply":          "Network has one value and no rows; its fields are resolved like root fields",
	"Network.fees":            "as Network.supply",
	"Network.exchangeRate":    "as Network.supply",
	"Network.node":            "as Network.supply",
	"Network.nodes":           "as Network.supply",
	"Network.registeredNode":  "as Network.supply",
	"Network.registeredNodes": "as Network.supply",
	"Network.stake":           "as Network.supply",
}

// maxUnbatched bounds the list.
const maxUnbatched = 10

// computed are the fields that need a function but no statement, in addition to all ids.
var computed = map[string]bool{"Schedule.state": true}
