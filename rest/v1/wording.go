package v1

import (
	"cmp"
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

// missingTexts are the texts about something that does not exist, for endpoints of the modern family.
var missingTexts = map[relay.MissingKind]string{
	relay.MissingTopic:               "Topic not found",
	relay.MissingTopicEntity:         "Entity not found",
	relay.MissingTopicFees:           "Custom fee for entity not found",
	relay.MissingFile:                "File {id} not found",
	relay.MissingContract:            "No contract {contract} found",
	relay.MissingContractResults:     "No result of contract {id} found",
	relay.MissingContractResult:      "Contract result not found: {at}",
	relay.MissingContractTransaction: "Contract transaction hash not found: TransactionHashParameter[hash={hash}]",
}

// missingText returns the text of /api/v1 about something that does not exist, for the 404. It is empty for kinds
// without a text of their own, such as accounts.
func missingText(m *relay.Missing) string {
	if id := m.TransactionID; id != nil {
		return "Transaction not found: TransactionIdParameter[payerAccountId=" + id.Payer.String() + ", validStart=" +
			time.Unix(0, int64(id.ValidStart)).UTC().Format(time.RFC3339Nano) + "]"
	}
	return strings.NewReplacer("{id}", m.ID.String(), "{contract}", m.Contract.String(),
		"{at}", strconv.FormatInt(int64(m.At), 10), "{hash}", string(ledger.AppendHex(nil, m.Hash)),
	).Replace(missingTexts[m.Kind])
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

// ruleTexts are the texts about a field of a call that violates a rule.
var ruleTexts = map[calls.Rule]string{
	calls.ValidLength:        "{field} field invalid hexadecimal string",
	calls.AtLeast:            "{field} field must be greater than or equal to {bound}",
	calls.AtMost:             "{field} field must be less than or equal to {bound}",
	calls.Required:           "{field} field must not be empty",
	calls.Exclusive:          "state and state_diff are mutually exclusive",
	calls.AnyCall:            "at least one call is required across block_state_calls",
	calls.MaxCalls:           "total number of calls across block_state_calls must not exceed {bound}",
	calls.OneOfNumberAndTime: "number and time cannot be populated simultaneously",
	calls.MaxEntries:         "{field} field size must be between 0 and {bound}",
}

// inputText returns the text of /api/v1 about a field of a call that violates a rule. It names the field without
// its path.
func inputText(e *calls.InputError) string {
	field := e.Field[strings.LastIndexByte(e.Field, '.')+1:]
	return strings.NewReplacer("{field}", cmp.Or(inputFields[field], field),
		"{bound}", strconv.FormatInt(e.Bound, 10)).Replace(ruleTexts[e.Rule])
}

// inputTexts returns the texts of invalid inputs of contract calls for the messages of a problem.
func inputTexts(errs []*calls.InputError) []string {
	return list.Map(errs, inputText)
}

// blockTexts begin the texts about an invalid block of a call.
var blockTexts = map[calls.BlockProblem]string{
	calls.BlockSyntax:  "Invalid block value: ",
	calls.DecimalRange: "Decimal value out of range for block: ",
	calls.HexRange:     "Hex value out of range for block: ",
}

// blockText returns the text of /api/v1 about an invalid block of a call, or "" for another error.
func blockText(err error) string {
	var e *calls.BlockError
	if !errors.As(err, &e) {
		return ""
	}
	return blockTexts[e.Problem] + e.Block
}
