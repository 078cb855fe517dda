package ledger

// FeeQuestions selects the facts of the ledger that the fee of a transaction depends on.
type FeeQuestions struct {
	// Topic is the topic that a message is sent to, or 0.
	Topic EntityID
	// Tokens are the distinct tokens that are transferred.
	Tokens []EntityID
	// Aliases are the aliases of receivers of transfers, and the addresses of those that are keys. The transfer
	// creates an account for each alias that no account has.
	Aliases []Alias
}

// Any reports whether the questions are not empty.
func (q *FeeQuestions) Any() bool { return q.Topic != 0 || len(q.Tokens) > 0 || len(q.Aliases) > 0 }

// FeeFacts are the facts that [FeeQuestions] selects. A fact that does not exist is missing.
type FeeFacts struct {
	// TopicHasFees reports whether the topic exists and has custom fees.
	TopicHasFees bool
	// Tokens has the requested tokens that exist.
	Tokens map[EntityID]TokenFeeFacts
	// Owned has the aliases of live accounts, as strings of their bytes.
	Owned map[string]bool
}

// TokenFeeFacts are the properties of a token that the fee of a transfer depends on.
type TokenFeeFacts struct {
	NonFungible   bool
	HasCustomFees bool
}
