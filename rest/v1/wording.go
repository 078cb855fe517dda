package v1

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"heliograph/graph/relay"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm/calls"
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
			return "Contract transaction hash not found: TransactionHashParameter[hash=" +
				string(ledger.AppendHex(nil, m.Hash)) + "]"
		}
		start := time.Unix(0, int64(m.TransactionID.ValidStart)).UTC().Format(time.RFC3339Nano)
		return "Transaction not found: TransactionIdParameter[payerAccountId=" + m.TransactionID.Payer.String() +
			", validStart=" + start + "]"
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

	calls.ErrRequestRate:       "Requests per second rate limit exceeded",
	calls.ErrGasRate:           "Gas per second rate limit exceeded.",
	calls.ErrRejected:          "Invalid request",
	calls.ErrOverridesDisabled: `400 BAD_REQUEST "State overrides are not supported."`,
	calls.ErrPrestateSize:      "Bytecode size exceeds maximum of 10000000 bytes",
	calls.ErrUnknownBlock:      "Unknown block number",
}

// errorText returns the text about an error of the graph, or "" if the API has none of its own.
func errorText(err error) string {
	var extra *fees.UndefinedExtraError
	if errors.As(err, &extra) {
		return "Extra not defined " + extra.Extra.String()
	}
	var limit *fees.LimitError
	if errors.As(err, &limit) {
		return limit.Code.String()
	}
	var input *calls.InputError
	if errors.As(err, &input) {
		return inputText(input)
	}
	for known, text := range errorTexts {
		if errors.Is(err, known) {
			return text
		}
	}
	return ""
}

// inputFields has the names of fields that differ from the graph's.
var inputFields = map[string]string{"stateDiff": "state_diff", "blocks": "blockStateCalls"}

// inputText returns the text about a field of a call that violates a rule. It names the field without its path.
func inputText(e *calls.InputError) string {
	field, bound := e.Field[strings.LastIndexByte(e.Field, '.')+1:], strconv.FormatInt(e.Bound, 10)
	if name, differs := inputFields[field]; differs {
		field = name
	}
	switch e.Rule {
	case calls.AtLeast:
		return field + " field must be greater than or equal to " + bound
	case calls.AtMost:
		return field + " field must be less than or equal to " + bound
	case calls.Required:
		return field + " field must not be empty"
	case calls.Exclusive:
		return "state and state_diff are mutually exclusive"
	case calls.AnyCall:
		return "at least one call is required across block_state_calls"
	case calls.MaxCalls:
		return "total number of calls across block_state_calls must not exceed " + bound
	case calls.OneOfNumberAndTime:
		return "number and time cannot be populated simultaneously"
	case calls.MaxEntries:
		return field + " field size must be between 0 and " + bound
	default:
		return field + " field invalid hexadecimal string"
	}
}

func inputTexts(errs []*calls.InputError) []string {
	return list.Map(errs, inputText)
}

// blockText returns the text about an invalid block of a call.
func blockText(err error) string {
	var e *calls.BlockError
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Problem {
	case calls.DecimalRange:
		return "Decimal value out of range for block: " + e.Block
	case calls.HexRange:
		return "Hex value out of range for block: " + e.Block
	default:
		return "Invalid block value: " + e.Block
	}
}
