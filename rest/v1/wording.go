package v1

import (
	"errors"
	"strconv"
	"time"

	"heliograph/graph/relay"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
)

// missingText returns the text about something that does not exist, for endpoints of the modern family.
func missingText(m *relay.Missing) string {
	switch m.Kind {
	case relay.MissingTopic:
		return "Topic not found"
	case relay.MissingTopicEntity:
		return "Entity not found"
	case relay.MissingTopicFees:
		return "Custom fee for entity not found"
	case relay.MissingFile:
		return "File " + m.ID.String() + " not found"
	case relay.MissingContract:
		return "No contract " + m.Contract.String() + " found"
	case relay.MissingContractResults:
		return "No result of contract " + m.ID.String() + " found"
	case relay.MissingContractResult:
		return "Contract result not found: " + strconv.FormatInt(int64(m.At), 10)
	case relay.MissingContractTransaction:
		if m.TransactionID == nil {
			return "Contract transaction hash not found: TransactionHashParameter[hash=" + string(ledger.AppendHex(nil, m.Hash)) + "]"
		}
		start := time.Unix(0, int64(m.TransactionID.ValidStart)).UTC().Format(time.RFC3339Nano)
		return "Transaction not found: TransactionIdParameter[payerAccountId=" + m.TransactionID.Payer.String() + ", validStart=" + start + "]"
	default:
		return ""
	}
}

// errorTexts are the texts about errors of the graph.
var errorTexts = map[error]string{
	fees.ErrUnreadable:   "Unable to parse transaction",
	fees.ErrEmpty:        "Transaction must contain body bytes or signed transaction bytes",
	fees.ErrUnknownType:  "Unknown transaction type",
	ledger.ErrEmptyRange: "Invalid range provided for timestamp",
}

// errorText returns the text about an error of the graph, or "" if the API has none of its own.
func errorText(err error) string {
	var extra *fees.UndefinedExtraError
	if errors.As(err, &extra) {
		return "Extra not defined " + extra.Extra.String()
	}
	for known, text := range errorTexts {
		if errors.Is(err, known) {
			return text
		}
	}
	return ""
}
