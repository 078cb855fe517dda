package fees

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger"
)

// Mode selects what an estimate takes into account.
type Mode string

// The modes.
const (
	Intrinsic Mode = "INTRINSIC" // only the transaction
	State     Mode = "STATE"     // also the ledger's state and the utilization of the network
)

// maxThrottle is 100 percent in basis points.
const maxThrottle = 10_000

// Options are the options of an estimate.
type Options struct {
	Mode Mode
	// HighVolumeThrottle is the utilization of the high-volume throttle in basis points, 0 to 10000. Only [State] uses
	// it.
	HighVolumeThrottle int64
	// Facts are the answers to [Transaction.Questions]. Only [State] uses them.
	Facts *ledger.FeeFacts
}

// USCents returns the total, which is in tinycents, as US cents with eight decimals.
func (e *Estimate) USCents() string {
	const cent, decimals = 100_000_000, 8
	fraction := strconv.FormatInt(e.Total%cent, 10)
	return strconv.FormatInt(e.Total/cent, 10) + "." + strings.Repeat("0", decimals-len(fraction)) + fraction
}

// charge adds the price of count units of an extra, of which r.included are free, to a part of the bill. price is that
// of one unit. Amounts are in tinycents. If all are free, it adds nothing.
func (p *Part) charge(price int64, r reference, count int64) {
	charged := max(0, count-r.included)
	if charged == 0 {
		return
	}
	c := &Charge{
		Extra: r.extra, Count: count, Included: r.included, Charged: charged, FeePerUnit: price,
		Subtotal: times(price, charged),
	}
	p.Extras = append(p.Extras, c)
	p.Subtotal = plus(p.Subtotal, c.Subtotal)
}

type bill struct {
	*Estimate

	facts      *ledger.FeeFacts
	schedule   *Schedule
	definition *definition
	err        error // the first one
}

// fail records the error with which [Schedule.Estimate] ends. It keeps the first error, and does not stop the
// computation.
func (b *bill) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// add charges count units of an extra to the service's part. If the schedule does not define the extra for this
// type of transaction, it records an [UndefinedExtraError].
func (b *bill) add(name feepb.Extra, count int64) {
	e := Extra(name)
	r, defined := b.definition.find(e)
	if !defined {
		b.fail(&UndefinedExtraError{e})
		return
	}
	b.Service.charge(b.schedule.prices[e], r, count)
}

// addSome charges count units of an extra to the service's part, as [bill.add] does. If count is 0, it does nothing:
// then the schedule need not define the extra.
func (b *bill) addSome(e feepb.Extra, count int64) {
	if count > 0 {
		b.add(e, count)
	}
}

// isState reports whether the estimate is in mode [State], in which b.facts are the facts of the ledger.
func (b *bill) isState() bool { return b.Mode == State }

// Estimate estimates the fee of a transaction. Errors are an [InputError] or an [UndefinedExtraError]. A type that the
// schedule does not define is an [ErrUnknownType], except contract calls, for which the service charges nothing. Types
// that are always free have a fee of 0. All modes but [State] count as [Intrinsic]. Without facts, no token, topic or
// alias is known.
//
// In mode [State] it also charges accounts that a transfer creates because it has a receiver with an unused alias. The
// extra [AccountCreations] has the price of the creation of an account for each of them, and a note reports it. It
// multiplies the fees of a high-volume transaction by the multiplier at [Options.HighVolumeThrottle].
func (s *Schedule) Estimate(t *Transaction, o Options) (*Estimate, error) {
	function := functionOf(t.body)
	e := &Estimate{Mode: o.Mode, Function: function.String(), HighVolumeMultiplier: 1}
	b := &bill{Estimate: e, facts: o.Facts, schedule: s, definition: s.definitions[chargedLike(function)]}
	if b.facts == nil {
		b.facts = &ledger.FeeFacts{}
	}
	if !isWaived(function) {
		if b.definition == nil {
			if function != services.HederaFunctionality_ContractCall {
				return nil, ErrUnknownType
			}
			b.definition = &definition{}
		}
		if !b.definition.exempt {
			b.chargeNode(t)
		}
		b.Service.Base, b.Service.Subtotal = b.definition.base, b.definition.base
		b.chargeService(t)
	}
	if b.err != nil {
		return nil, b.err
	}
	if o.Mode == State && t.body.GetHighVolume() && slices.Contains(highVolume, function) {
		if raw := s.definitions[function].multiplierAt(o.HighVolumeThrottle); raw != once {
			e.scale(raw)
		}
	}
	e.Network.Subtotal = times(e.Node.Subtotal, int64(e.Network.Multiplier))
	e.Total = plus(plus(e.Node.Subtotal, e.Network.Subtotal), e.Service.Subtotal)
	return e, nil
}

// multiplierAt returns the high-volume multiplier at a utilization, in thousandths, or [once] if d is nil.
func (d *definition) multiplierAt(utilization int64) int64 {
	if d == nil {
		return once
	}
	return d.highVolume.at(utilization)
}

// chargeNode sets the node's part, and the multiplier with which the network charges it. Of the extras, the node
// charges only bytes and signatures.
func (b *bill) chargeNode(t *Transaction) {
	b.Node.Base, b.Node.Subtotal = b.schedule.nodeBase, b.schedule.nodeBase
	b.Network.Multiplier = int32(b.schedule.multiplier)
	for _, r := range b.schedule.node {
		switch r.extra {
		case Extra(feepb.Extra_PROCESSING_BYTES):
			b.Node.charge(b.schedule.prices[r.extra], r, t.bytes)
		case Extra(feepb.Extra_SIGNATURES):
			b.Node.charge(b.schedule.prices[r.extra], r, t.signatures)
		default: // the node does not charge other extras
		}
	}
}

// creations charges the accounts that a transfer creates because no account has the alias of a receiver, and adds a
// note about it. The facts say which aliases exist. If all exist, it adds nothing. Without a price of account
// creations, the charge is 0.
func (b *bill) creations(list []newcomer) {
	var n int64
	for _, a := range list {
		if !b.facts.Owned[string(a.alias)] && !b.facts.Owned[string(a.address)] {
			n++
		}
	}
	if n == 0 {
		return
	}
	var price int64
	if d := b.schedule.definitions[services.HederaFunctionality_CryptoCreate]; d != nil {
		price = d.base
	}
	b.Service.charge(price, reference{extra: AccountCreations}, n)
	text := "The transfer creates 1 account, as nobody has the alias"
	if n > 1 {
		text = "The transfer creates " + strconv.FormatInt(n, 10) + " accounts, as nobody has the aliases"
	}
	text += " that it names. " + AccountCreations.String() +
		" stands for what the network charges for that; it is no part of the fee schedule."
	b.Notes = append(b.Notes, text)
}
