package fees

import (
	"strconv"
	"strings"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

	"heliograph/internal/domain/ledger"
)

// Mode is how much an estimate looks at.
type Mode string

// The modes.
const (
	Intrinsic Mode = "INTRINSIC" // the transaction alone
	State     Mode = "STATE"     // the ledger's state and the use of the network too
)

// maxThrottle is the whole of a throttle in basis points.
const maxThrottle = 10_000

// Options say how to estimate.
type Options struct {
	Mode Mode
	// HighVolumeThrottle is how much of the throttle of high volume is used, in basis points: 0 to 10000. Only [State] looks at it.
	HighVolumeThrottle int64
	// Facts are the answers to [Transaction.Questions]. Only [State] looks at them.
	Facts *ledger.FeeFacts
}

// Estimate is what a transaction would cost, in tinycents.
type Estimate struct {
	Mode Mode
	// Function is the network's name of what the transaction does.
	Function string
	// HighVolumeMultiplier is by how much high volume multiplied everything, rounded down; 1 when it did not.
	HighVolumeMultiplier int64
	Node, Service        Part
	Network              NetworkPart
	Total                int64
	// Notes say in words what is special about the estimate.
	Notes []string
	// ScheduleTimestamp is when the schedule was stored by which it was made, for those who know; unknown for the one that networks begin with.
	ScheduleTimestamp ledger.Null[ledger.Timestamp]
}

// USCents is the total in US cents, with the eight decimals that it has.
func (e *Estimate) USCents() string {
	const cent, decimals = 100_000_000, 8
	fraction := strconv.FormatInt(e.Total%cent, 10)
	return strconv.FormatInt(e.Total/cent, 10) + "." + strings.Repeat("0", decimals-len(fraction)) + fraction
}

// Part is the node's or the service's part of a fee.
type Part struct {
	Base     int64
	Extras   []*Charge // only those of which some pieces are charged
	Subtotal int64     // of base and extras
}

// NetworkPart is the network's part of a fee: a multiple of the node's. The multiplier is 0 where neither is charged.
type NetworkPart struct {
	Multiplier int32
	Subtotal   int64
}

// charge adds some pieces of an extra.
func (p *Part) charge(price int64, r reference, count int64) {
	charged := max(0, count-r.included)
	if charged == 0 {
		return
	}
	c := &Charge{Extra: r.extra, Count: count, Included: r.included, Charged: charged, FeePerUnit: price, Subtotal: times(price, charged)}
	p.Extras = append(p.Extras, c)
	p.Subtotal = plus(p.Subtotal, c.Subtotal)
}

// bill is an estimate while it is made.
type bill struct {
	*Estimate

	facts      *ledger.FeeFacts
	schedule   *Schedule
	definition *definition
	err        error // the first one
}

// fail ends the estimate.
func (b *bill) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// add charges some pieces of an extra for the service.
func (b *bill) add(e Extra, count int64) {
	r, defined := b.definition.find(e)
	if !defined {
		b.fail(&UndefinedExtraError{e})
		return
	}
	b.Service.charge(b.schedule.prices[e], r, count)
}

// addSome charges an extra that is part of the fee only where there is any of it.
func (b *bill) addSome(e Extra, count int64) {
	if count > 0 {
		b.add(e, count)
	}
}

// isState tells whether the ledger's state is looked at.
func (b *bill) isState() bool { return b.Mode == State }

// waive makes everything free, also what node and network take.
func (b *bill) waive() { b.Node, b.Service, b.Network = Part{}, Part{}, NetworkPart{} }

// Estimate says what a transaction would cost. Errors are an [InputError] or an [UndefinedExtraError].
//
// Besides what the schedule charges, [State] counts accounts that a transfer creates because it names a receiver by an alias that nobody has. The
// extra [AccountCreations] prices each like the creation of an account, and a note says so.
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
			b.definition = &definition{function: function}
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
	if o.Mode == State && t.body.GetHighVolume() && hasHighVolume(function) {
		if raw := s.definitions[function].multiplierAt(o.HighVolumeThrottle); raw != once {
			e.scale(raw)
		}
	}
	e.Network.Subtotal = times(e.Node.Subtotal, int64(e.Network.Multiplier))
	e.Total = plus(plus(e.Node.Subtotal, e.Network.Subtotal), e.Service.Subtotal)
	return e, nil
}

// multiplierAt is the multiplier of high volume at a utilization, in thousandths.
func (d *definition) multiplierAt(utilization int64) int64 {
	if d == nil {
		return once
	}
	return d.highVolume.at(utilization)
}

// chargeNode charges what the node takes, and the network's multiple of it.
func (b *bill) chargeNode(t *Transaction) {
	b.Node.Base, b.Node.Subtotal = b.schedule.nodeBase, b.schedule.nodeBase
	b.Network.Multiplier = int32(b.schedule.multiplier)
	for _, r := range b.schedule.node {
		switch r.extra {
		case ProcessingBytes:
			b.Node.charge(b.schedule.prices[r.extra], r, t.bytes)
		case Signatures:
			b.Node.charge(b.schedule.prices[r.extra], r, t.signatures)
		default: // no node has any of the others
		}
	}
}

// creations charges the accounts that a transfer creates.
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
	b.Notes = append(b.Notes, text+" that it names. "+AccountCreations.String()+" stands for what the network charges for that; it is no part of the fee schedule.")
}
