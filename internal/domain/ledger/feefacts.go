package ledger

// FeeQuestions are what the fee of a transaction depends on besides the transaction itself.
type FeeQuestions struct {
	// Topic is the topic that a message is sent to; none when there is no message, or no such topic can exist.
	Topic EntityID
	// Tokens are the tokens that are transferred, each once.
	Tokens []EntityID
	// Aliases are those by which receivers of transfers are named, and the addresses of those that are keys: an account is created for one that nobody has.
	Aliases []Alias
}

// Any tells whether anything is asked.
func (q *FeeQuestions) Any() bool { return q.Topic != 0 || len(q.Tokens) > 0 || len(q.Aliases) > 0 }

// FeeFacts are the answers to [FeeQuestions]. What they do not mention does not exist.
type FeeFacts struct {
	// TopicHasFees tells whether the topic exists and has custom fees.
	TopicHasFees bool
	// Tokens are those of the tokens that exist.
	Tokens map[EntityID]TokenFeeFacts
	// Owned are those of the aliases that live accounts have, as strings of their bytes.
	Owned map[string]bool
}

// TokenFeeFacts are what the fee of transferring a token depends on.
type TokenFeeFacts struct {
	NonFungible   bool
	HasCustomFees bool
}
