package system

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/evm"
	"heliograph/internal/ledger"
)

// scheduleFunctions are the functions of the schedule service.
func scheduleFunctions() []*function {
	out := absent(nil, []string{
		"authorizeSchedule(address)", "signSchedule(address,bytes)", "scheduleNative(address,bytes,address)",
		"scheduleCall(address,uint256,uint256,uint64,bytes)", "scheduleCallWithPayer(address,address,uint256,uint256,uint64,bytes)",
		"executeCallOnPayerSignature(address,address,uint256,uint256,uint64,bytes)", "deleteSchedule(address)",
	})
	return append(out,
		&function{signature: "getScheduledCreateFungibleTokenInfo(address)", run: scheduledToken, partly: true},
		&function{signature: "getScheduledCreateNonFungibleTokenInfo(address)", run: scheduledToken, partly: true},
		&function{signature: "hasScheduleCapacity(uint256,uint256)", kind: missing},
	)
}

// scheduleFacade are the functions of a schedule's address.
func scheduleFacade() []*function {
	return absent(nil, []string{"signSchedule()", "deleteSchedule()"})
}

// scheduledTokenCreation is the field of a scheduled transaction's body that creates a token.
const scheduledTokenCreation = 22

// scheduledToken tells why there is no token to tell of. What a scheduled transaction would create is not told.
func scheduledToken(c *call, in []any) evm.Outcome {
	e := c.State.Entity(in[0].(common.Address))
	if e == nil || e.Type != ledger.EntitySchedule {
		return c.reverts(recordNotFound)
	}
	body, err := c.facts.source.ScheduledBody(c.State.Context(), e.ID)
	if err != nil {
		c.State.Abort(fmt.Errorf("reading schedule %s: %w", e.ID, err))
	}
	creates := false
	sound := eachField(body, func(field int32) { creates = creates || field == scheduledTokenCreation })
	if sound && creates {
		return c.NotImplemented()
	}
	return c.reverts(invalidScheduleID)
}
