package v1

import (
	"regexp"
	"strconv"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/rest"
)

// hbarDoc documents the parameter hbar.
const hbarDoc = "Whether amounts and prices are in tinybars. If false, they are in weibars. Default: true."

var (
	resultHashSyntax = regexp.MustCompile(`^(0x)?[A-Fa-f0-9]{64}$`)
	instantSyntax    = regexp.MustCompile(`^\d{1,10}(\.\d{1,9})?$`)
)

var hbarParams = []rest.Param{{Name: "hbar", Kind: rest.Boolean, Doc: hbarDoc}}

var resultParams = []rest.Param{
	{Name: "hbar", Kind: rest.Boolean, Doc: hbarDoc},
	{Name: "nonce", Kind: rest.Int.Only(rest.Eq), Bind: func(r *rest.Request, values []rest.Value) error {
		n, err := strconv.Atoi(values[len(values)-1].Text)
		if r.Variables["transactionId"] != nil { // a hash identifies one transaction
			r.Set("nonce", n)
		}
		return err //nolint:wrapcheck // its kind has made sure that it is a number
	}, Doc: "The nonce of a transaction ID. The nonce of the transaction that the user sent is 0. Ignored with a hash.", Single: true},
}

// checkHbar validates the unit of amounts again: neither repeated values nor operators are allowed.
func checkHbar(r *rest.Request) error {
	all := r.Query.Get("hbar")
	if all == nil {
		return nil
	}
	if text := strings.Join(all, ","); !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
		return rest.Bad("Invalid hbar parameter value: " + text + ". Must be 'true' or 'false'")
	}
	return nil
}

// inWeibars reports whether amounts are requested in weibars.
func inWeibars(r *rest.Request) bool {
	all := r.Query.Get("hbar")
	return len(all) > 0 && strings.EqualFold(all[0], "false")
}

// resultOperation selects the unit of amounts in a single result.
func resultOperation(r *rest.Request) string {
	if inWeibars(r) {
		return "ContractResultWeibar"
	}
	return "ContractResult"
}

// bindResultOfContract validates the unit first, then the contract and the timestamp together.
func bindResultOfContract(r *rest.Request) error {
	if err := checkHbar(r); err != nil {
		return err
	}
	var bad []string
	if !isCallee(r.Path.Get("id")) {
		bad = append(bad, "Invalid parameter: contractid")
	}
	instant, err := pathInstant(r)
	if err != nil {
		bad = append(bad, "Invalid parameter: timestamp")
	}
	if bad != nil {
		return rest.Bad(bad...)
	}
	r.Set("at", instant.String())
	return nil
}

// pathInstant parses the consensus timestamp in the path.
func pathInstant(r *rest.Request) (ledger.Timestamp, error) {
	text := r.Path.Get("timestamp")
	if !instantSyntax.MatchString(text) {
		return 0, ledger.ErrSyntax
	}
	at, _, err := rest.ParseTimestamp(text)
	return at, err
}

func finishResultOfContract(r *rest.Request) error {
	ref, err := calleeOf(r)
	if err != nil {
		return err
	}
	r.Set("contract", ref.String())
	return finishResult(r)
}

func finishResult(r *rest.Request) error {
	r.Variables["delegation"] = r.Config.DelegationAddress
	return nil
}

// bindResultAt parses a consensus timestamp without a contract.
func bindResultAt(r *rest.Request) error {
	if err := checkHbar(r); err != nil {
		return err
	}
	instant, err := pathInstant(r)
	if err != nil {
		return rest.InvalidParameter("timestamp")
	}
	r.Set("at", instant.String())
	return nil
}

func bindResult(r *rest.Request) error {
	if err := checkHbar(r); err != nil {
		return err
	}
	return bindResultTransaction(r)
}

// bindResultTransaction parses the hash of an Ethereum transaction or a transaction id.
func bindResultTransaction(r *rest.Request) error {
	text := r.Path.Get("transactionIdOrHash")
	if resultHashSyntax.MatchString(text) {
		r.Set("hash", text)
		return nil
	}
	return bindTransactionID(r, text, "transactionId")
}

// bindActions rejects invalid conditions on the index before the path is validated.
func bindActions(r *rest.Request) error {
	for _, v := range r.Values("index") {
		if v.Op == rest.Ne {
			return rest.InvalidParameter("index")
		}
	}
	return bindResultTransaction(r)
}

var actionsParams = []rest.Param{
	{Name: "index", Kind: rest.Index, Bind: rest.Longs("filter.index"), Doc: "Filters by index. The operator `ne` is not supported."},
	limit, order,
}
