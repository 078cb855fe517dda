package v1

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"heliograph/graph/relay"
	"heliograph/graph/scalar"
	"heliograph/graph/server"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// callEndpoints returns the descriptions of the endpoints that execute contracts: calls, simulations, and traces and
// prestates of transactions.
func callEndpoints() []rest.Endpoint {
	trace := rest.Endpoint{
		Path: "/contracts/results/{transactionIdOrHash}/opcodes", Family: rest.Modern, Params: traceParams,
		Document: "contract_opcodes.graphql",
		Options: rest.Options{
			Admit: admitTrace, ErrorData: true, Stream: streamTrace,
			Describes: "WholeTrace", Keyed: []string{"storage"}, Statuses: []int{http.StatusNotAcceptable},
		},
		BindPath: func(r *rest.Request) error { return bindTransactionOrHash(r, r.Path("transactionIdOrHash")) },
		Finish:   finishTrace,
	}
	ofContract := trace
	ofContract.Path, ofContract.BindPath = "/contracts/{id}/results/opcodes", bindTracedContract
	ofContract.Params = append([]rest.Param{
		{
			Name: "timestamp", Kind: rest.ModernTimestamp, Check: isInstant, Bind: rest.Texts("at"),
			Doc: "Selects the transaction by consensus timestamp.",
		},
		{Name: "transaction.hash", Kind: anyText, Bind: bindTracedHash, Doc: "Selects the transaction by hash."},
		{Name: "transaction.id", Kind: anyText, Bind: bindTracedID, Doc: "Selects the transaction by ID."},
	}, traceParams...)
	prestate := rest.Endpoint{
		Path: "/contracts/results/{transactionIdOrHash}/prestate", Family: rest.Modern, Params: prestateParams,
		Document: "contract_prestate.graphql",
		Options: rest.Options{
			Admit: admitPrestate, ErrorData: true,
			Keyed: []string{"storage"}, Statuses: []int{http.StatusNotAcceptable},
		},
		BindPath: trace.BindPath, Finish: finishPrestate, NotFound: missingPrestate,
		MaxAge: immutableAge,
	}
	return []rest.Endpoint{
		{
			Path: "/contracts/call", Family: rest.Modern, Document: "contract_call.graphql",
			Operation: always("CallContract"),
			Body: &rest.Body{
				Types: []string{"application/json"}, MaxBytes: MaxCallBody, TooLarge: longDocument, Bind: bindCall,
				Doc: "The call.", Members: callMembers, Example: []byte(exampleCall),
			},
			NotFound: failedCall, Options: rest.Options{ErrorData: true},
		},
		{
			Path: "/contracts/simulate", Family: rest.Modern, Document: "contract_simulate.graphql",
			Body: &rest.Body{
				Types: []string{"application/json"}, MaxBytes: MaxCallBody, TooLarge: longDocument, Bind: bindSimulate,
				Doc: "The calls, one after another: each call runs on the state that the successful calls " +
					"before it leave.",
				Members: simulateMembers, Example: []byte(exampleSimulate),
			},
			Options: rest.Options{ErrorData: true},
		},
		trace, ofContract, prestate,
	}
}

// admitTrace takes a trace from the rate limit and returns nil, or returns a 429 if the limit is reached.
func admitTrace(c *rest.Config) *rest.Problem { return unlessRated(c.AdmitTrace()) }

// admitPrestate takes a prestate from the rate limit and returns nil, or returns a 429 if the limit is reached.
func admitPrestate(c *rest.Config) *rest.Problem { return unlessRated(c.AdmitPrestate()) }

// unlessRated returns nil for an admitted request, or the 429 of one that the rate limit does not admit.
func unlessRated(admitted bool) *rest.Problem {
	if admitted {
		return nil
	}
	return rest.ModernProblem(http.StatusTooManyRequests, errorTexts[calls.ErrRequestRate])
}

var simulateMembers = []rest.BodyMember{
	{
		Name: "block", Type: "string",
		Doc: "The block whose state the first call runs on: a number, a hash, earliest or " +
			"latest. Default: latest.",
	},
	{
		Name: "block_state_calls", Type: "array",
		Doc: "At most 16 blocks with calls (1 to 16 in total, with the members of " +
			"contracts/call), state_overrides and block_override (number or time).",
	},
	{Name: "trace_transfers", Type: "boolean", Doc: "Whether to add a log for each transfer of value. " +
		"Default: false."},
}

// exampleSimulate reads the total supply of the demo network's contract 0.0.3001 in two blocks.
const exampleSimulate = `{"block_state_calls":[` +
	`{"calls":[{"data":"0x18160ddd","to":"0x0000000000000000000000000000000000000bb9"}]},` +
	`{"calls":[{"data":"0x18160ddd","to":"0x0000000000000000000000000000000000000bb9"}]}]}`

var callMembers = []rest.BodyMember{
	{
		Name: "to", Type: "string",
		Doc: "The address of the callee: a contract, an account or a token. If missing, the call creates a " +
			"contract, and data is its " +
			"initcode.",
	},
	{Name: "data", Type: "string", Doc: "The input in hex: the selector of a function and its arguments."},
	{Name: "from", Type: "string", Doc: "The address of the sender. Default: the treasury, 0.0.2."},
	{
		Name: "block", Type: "string",
		Doc: "The block of the call: a number, a hash, earliest or latest. Default: latest.",
	},
	{Name: "gas", Type: "integer", Doc: "The gas limit, 21000 to 15000000. Default: 15000000."},
	{Name: "gasPrice", Type: "integer", Doc: "The gas price in tinybars. Default: 0."},
	{Name: "value", Type: "integer", Doc: "The value in tinybars. Default: 0."},
	{
		Name: "estimate", Type: "boolean",
		Doc: "Whether to estimate the gas of the call. The result is the gas in 16 hex digits. Default: false.",
	},
	{
		Name: "state_overrides", Type: "array",
		Doc: "State overrides for the call, by address: balance, code, nonce, state or state_diff. " +
			"At most 10. Balance and nonce are numbers, or texts in decimal or in hex with 0x. " +
			"Rejected unless the operator has enabled them.",
	},
}

// exampleCall requests the total supply of the demo network's contract 0.0.3001.
const exampleCall = `{"data":"0x18160ddd","to":"0x0000000000000000000000000000000000000bb9"}`

// longDocument is the response to a document that exceeds the limit: it cannot be parsed.
var longDocument = rest.ModernBad(parseError + fmt.Sprintf("the document has more than %d characters", MaxCallBody))

// parseError begins the text about a document that cannot be parsed.
const parseError = "JSON parse error: "

// parseBody parses the JSON document of a call or a simulation, of at most maxTokens tokens, and passes its tree to
// read. The error is a 400.
func parseBody(body []byte, maxTokens int, read func(tree any) error) error {
	tree, err := readJSON(body, maxTokens)
	if err == nil {
		err = read(tree)
	}
	if err != nil {
		return rest.ModernBad(parseError + err.Error())
	}
	return nil
}

// bindCall reads the body of POST /contracts/call into the variable input, and selects the operation. All violations
// are reported in one 400. Malformed JSON, a value of another JSON type, and an invalid block are a 400 with one
// message.
func bindCall(r *rest.Request, body []byte) error {
	var call callBody
	if err := parseBody(body, maxCallTokens, call.read); err != nil {
		return err
	}
	complaints := slices.Concat(call.violations, inputTexts(call.input.Validate()))
	if len(complaints) > 0 {
		return rest.ModernBadAll(complaints...)
	}
	if call.estimate {
		r.Selected = "EstimateGas"
	}
	r.Set("input", call.variables())
	return nil
}

// serverFailures are the codes of failures that the client did not cause.
var serverFailures = []string{
	"FAIL_INVALID", "FAIL_FEE", "FAIL_BALANCE", "PLATFORM_NOT_ACTIVE", "PLATFORM_TRANSACTION_NOT_CREATED", "UNKNOWN",
	"WAITING_FOR_LEDGER_ID",
}

// failedCall is the NotFound of POST /contracts/call. It returns the problem of a contract call that failed, with its
// response code, reason and revert data, and the codes of failed child calls. It is a 400, or a 500 with only the code
// for failures of the server. An outcome without a failure is a 404.
func failedCall(_ *rest.Request, o *relay.Outcome) *rest.Problem {
	f := o.Failure
	if f == nil {
		return rest.ModernNotFound("")
	}
	data := string(ledger.AppendHex(nil, f.Data))
	detail := f.Reason.V
	if f.NoSender {
		detail, data = "Sender account not found.", ""
	}
	p := &rest.Problem{Status: http.StatusBadRequest, Items: []rest.Item{rest.ItemOf(f.Code.String(), detail, data)}}
	for _, c := range f.Children {
		p.Items = append(p.Items, rest.ItemOf(c.String(), "", ""))
	}
	if slices.Contains(serverFailures, f.Code.String()) {
		p.Status = http.StatusInternalServerError
		p.Items = []rest.Item{rest.ItemOf(f.Code.String(), "", "")}
	}
	return p
}

var traceParams = []rest.Param{
	option("stack", "Whether to include the stack. Default: true."),
	option("memory", "Whether to include the memory. Default: false."),
	option("storage", "Whether to include the storage. Default: false."),
}

// option returns a parameter of a trace or prestate with the description doc, which sets the variable with its name to
// a Boolean.
func option(name, doc string) rest.Param {
	bind := func(r *rest.Request, values []rest.Value) error {
		r.Set(name, values[0].Number == 1)
		return nil
	}
	return rest.Param{Name: name, Kind: rest.Switch, Bind: bind, Doc: doc}
}

// anyText accepts any text. The Bind that uses it validates the text.
var anyText = rest.Kind{Parse: rest.Accepting(func(*rest.Config, string) bool { return true })}

// isInstant returns the complaint about a timestamp, in GET /contracts/{id}/results/opcodes, with another operator
// than eq, or "".
func isInstant(v rest.Value) string {
	if v.Op != rest.Eq {
		return "timestamp must be an instant"
	}
	return ""
}

// bindTracedHash sets the variable of the transaction to trace in GET /contracts/{id}/results/opcodes from the
// parameter transaction.hash. Another text is a 400.
func bindTracedHash(r *rest.Request, values []rest.Value) error {
	if !resultHashSyntax.MatchString(values[0].Text) {
		return unsupportedID(values[0].Text)
	}
	return bindTransactionOrHash(r, values[0].Text)
}

// bindTracedID sets the variable of the transaction to trace in GET /contracts/{id}/results/opcodes from the parameter
// transaction.id. Another text is a 400.
func bindTracedID(r *rest.Request, values []rest.Value) error {
	if resultHashSyntax.MatchString(values[0].Text) {
		return unsupportedID(values[0].Text)
	}
	return bindTransactionOrHash(r, values[0].Text)
}

// unsupportedID returns the 400 for a text that identifies no transaction.
func unsupportedID(text string) *rest.Problem {
	return rest.ModernBad("Unsupported ID format: '" + text + "'")
}

// bindTransactionOrHash sets the variable hash or transactionId of a trace or prestate from a text of the path or
// query string. Another text is a 400.
func bindTransactionOrHash(r *rest.Request, text string) error {
	switch id, err := ledger.ParseTransactionID(text); {
	case strings.TrimSpace(text) == "":
		return rest.ModernBad("Missing transaction ID or hash")
	case resultHashSyntax.MatchString(text):
		r.Set("hash", "0x"+ledger.TrimHexPrefix(text))
	case err != nil:
		return unsupportedID(text)
	default:
		r.Set("transactionId", id.String())
	}
	return nil
}

// bindTracedContract sets the variable contract from the path of GET /contracts/{id}/results/opcodes. Another text
// than an id or address is a 400. The contract is not looked up.
func bindTracedContract(r *rest.Request) error {
	ref, err := ledger.ParseContractRef(r.Path("id"), r.Config.Base)
	if err != nil {
		return unsupportedID(r.Path("id"))
	}
	r.Set("contract", ref.String())
	return nil
}

// finishTrace is the Finish of the endpoint for the trace of a contract result, opcodes. It fails with a 501 if traces
// are off, with a 400 without the header Accept-Encoding, and with a 406 if that lacks gzip. It sets nothing.
func finishTrace(r *rest.Request) error { return checkGzip(r, !r.Config.TracesOff) }

// checkGzip returns a problem if the ability is not switched on (501), or if the header Accept-Encoding is missing
// (400) or does not have gzip (406), because the responses can be large.
func checkGzip(r *rest.Request, on bool) error {
	given := r.HTTP.Header.Values("Accept-Encoding")
	switch {
	case !on:
		return rest.ModernProblem(http.StatusNotImplemented, "")
	case len(given) == 0:
		return rest.ModernBad(
			"Required request header 'accept-encoding' for method parameter type String is not present")
	case !strings.Contains(strings.ToLower(strings.Join(given, ",")), "gzip"):
		return rest.ModernProblem(http.StatusNotAcceptable, "Accept-Encoding: gzip header is required")
	}
	return nil
}

var prestateParams = []rest.Param{
	option("code", "Whether to include the runtime bytecode of contracts. Default: false."),
	option("diff", "Whether to include the state after the transaction, and only what changed. Default: false."),
	option("storage", "Whether to include the storage of contracts. Default: false."),
}

// finishPrestate is the Finish of the endpoint for prestates. It fails with a 400 without the header Accept-Encoding,
// even if prestates are off, with a 501 if they are off, and with a 406 if the header lacks gzip. It sets nothing.
func finishPrestate(r *rest.Request) error {
	return checkGzip(r, r.Config.Prestate || len(r.HTTP.Header.Values("Accept-Encoding")) == 0)
}

// missingPrestate returns the 404 of a prestate whose transaction was not found.
func missingPrestate(r *rest.Request, _ *relay.Outcome) *rest.Problem {
	if r.Variables["hash"] != nil {
		return rest.ModernNotFound("Contract transaction hash not found.")
	}
	return rest.ModernNotFound("Transaction not found.")
}

// streamTrace writes a trace to w while its transaction runs, in gzip. It sends nothing before the head of the trace
// is known: if the run ends earlier, it returns the result and false, and the caller writes the response. If the run
// fails later, it panics to abort the connection.
func streamTrace(
	w http.ResponseWriter, r *rest.Request, run func(context.Context) *server.Result,
) (*server.Result, bool) {
	t := &traceWriter{w: w}
	res := run(relay.WithTraceSink(r.HTTP.Context(), t))
	if !t.started {
		return res, false
	}
	if res == nil || len(res.Errors) > 0 {
		// The status was sent. Only an aborted connection can signal an incomplete response.
		panic(http.ErrAbortHandler)
	}
	t.end()
	return res, true
}

// traceWriter writes a trace as JSON in gzip.
type traceWriter struct {
	w        http.ResponseWriter
	zip      *gzip.Writer
	buf      []byte
	started  bool
	returned []byte
	steps    int
}

// flushAt is the buffer size in bytes of JSON.
const flushAt = 16 << 10

// Head implements [relay.TraceSink]: it sends the headers with status 200 and buffers the members before the steps. It
// never fails.
func (t *traceWriter) Head(trace *calls.OpcodeTrace) error {
	h := t.w.Header()
	h.Set("Content-Type", "application/json;charset=UTF-8")
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	t.w.WriteHeader(http.StatusOK)
	t.started, t.zip, t.returned = true, gzip.NewWriter(t.w), trace.ReturnValue
	b := t.buf
	b = append(b, `{"address":"`...)
	b = trace.Address.Append(b)
	b = append(b, `","contract_id":`...)
	b = scalar.AppendEntityID(b, trace.ContractID, scalar.REST)
	b = fmt.Appendf(b, `,"failed":%t,"gas":%d,"opcodes":[`, trace.Failed, trace.Gas)
	t.buf = b
	return nil
}

// Step implements [relay.TraceSink]: it buffers a step as JSON, and sends the buffer if it is large enough. It fails
// if the client has disconnected, which ends the run. Head must have been called before.
func (t *traceWriter) Step(s *calls.OpcodeStep) error {
	b := t.buf
	t.steps++
	if t.steps > 1 {
		b = append(b, ',')
	}
	b = fmt.Appendf(b, `{"depth":%d,"gas":%d,"gas_cost":%d,"memory":`, s.Depth, s.Gas, s.GasCost)
	b = appendWords(b, s.Memory)
	b = fmt.Appendf(b, `,"op":"%s","pc":%d,"reason":`, s.Op, s.Pc)
	b = scalar.AppendHex(b, s.Reason, scalar.REST)
	b = appendWords(append(b, `,"stack":`...), s.Stack)
	b = append(b, `,"storage":{`...)
	for i, v := range s.Storage {
		if i > 0 {
			b = append(b, ',')
		}
		b = scalar.AppendHex(b, v.Key, scalar.REST)
		b = scalar.AppendHex(append(b, ':'), v.Value, scalar.REST)
	}
	b = append(b, "}}"...)
	t.buf = b
	if len(t.buf) < flushAt {
		return nil
	}
	return t.flush()
}

// appendWords appends a JSON array of words as "0x" and hex.
func appendWords(b []byte, words [][]byte) []byte {
	b = append(b, '[')
	for i, w := range words {
		if i > 0 {
			b = append(b, ',')
		}
		b = scalar.AppendHex(b, w, scalar.REST)
	}
	return append(b, ']')
}

// flush writes the buffer, compressed, to the response and empties it. It fails if the client has disconnected. The
// compressor can hold a part back.
func (t *traceWriter) flush() error {
	_, err := t.zip.Write(t.buf)
	t.buf = t.buf[:0]
	if err != nil {
		return fmt.Errorf("sending a trace: %w", err)
	}
	return nil
}

// end writes what follows the steps, the return value of the trace, and ends the gzip stream. The client may have
// disconnected. Errors are ignored.
func (t *traceWriter) end() {
	t.buf = scalar.AppendHex(append(t.buf, `],"return_value":`...), t.returned, scalar.REST)
	t.buf = append(t.buf, '}')
	if t.flush() == nil {
		_ = t.zip.Close()
	}
}
