package ledger

import (
	"math/big"
	"slices"
	"strconv"
)

// Network is the network as a whole. It is not a row of the database.
type Network struct{}

// TotalSupply is the total supply in tinybars.
const TotalSupply = 5_000_000_000_000_000_000

// NetworkSupply is the circulating supply at an instant.
type NetworkSupply struct {
	ReleasedSupply int64 // tinybars
	Timestamp      Timestamp
}

// TotalSupply returns the total supply in tinybars.
func (*NetworkSupply) TotalSupply() int64 { return TotalSupply }

// ReleasedHbar returns the released supply in hbars with eight decimals.
func (s *NetworkSupply) ReleasedHbar() string { return hbarText(s.ReleasedSupply) }

// TotalHbar returns the total supply in hbars with eight decimals.
func (*NetworkSupply) TotalHbar() string { return hbarText(TotalSupply) }

// hbarText formats tinybars as hbars with eight decimals.
func hbarText(tinybars int64) string {
	const decimals = 8
	sign, digits := "", strconv.FormatInt(tinybars, 10)
	if tinybars < 0 {
		sign, digits = "-", digits[1:]
	}
	for len(digits) <= decimals {
		digits = "0" + digits
	}
	return sign + digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
}

// unreleased has the account numbers that hold the unreleased supply: the first and last of each range.
var unreleased = [...][2]int64{{2, 2}, {42, 42}, {44, 71}, {73, 87}, {99, 100}, {200, 349}, {400, 750}}

// UnreleasedAccounts returns the accounts, in base's shard and realm, that hold the unreleased supply.
func UnreleasedAccounts(base EntityID) []EntityID {
	var ids []EntityID
	for _, r := range unreleased {
		for n := r[0]; n <= r[1]; n++ {
			ids = append(ids, base.WithNum(n))
		}
	}
	return ids
}

// NetworkNode is a consensus node of an address book, with columns of the tables node and node_stake.
type NetworkNode struct {
	NodeID                    int64
	FileID                    EntityID       // of the address book
	BookTimestamp             TimestampRange // the time during which the address book is valid
	AdminKey                  *KeyInfo
	AssociatedRegisteredNodes []int64
	CertHash                  string // "0x" and hex
	CreatedTimestamp          Null[Timestamp]
	DeclineReward             Null[bool]
	Deleted                   Null[bool]
	Description               Null[string]
	GRPCProxyEndpoint         *ServiceEndpoint
	MaxStake                  Null[int64] // this and the following are in tinybars
	MinStake                  Null[int64]
	RewardRateStart           Null[int64]
	Stake                     Null[int64]
	StakeNotRewarded          Null[int64]
	StakeRewarded             Null[int64]
	StakingPeriod             *TimestampRange
	Memo                      Null[string]
	NodeAccountID             EntityID
	PublicKey                 string // "0x" and hex of DER
}

// ServiceEndpoint is an endpoint of a node.
type ServiceEndpoint struct {
	DomainName  string // empty if it has an address
	IPAddressV4 string // empty if it has a name
	Port        int32
}

// NetworkNodeFilter selects nodes of an address book.
type NetworkNodeFilter struct {
	NodeID *LongFilter
}

// RegisteredNode is a node other than a consensus node: a block node, a mirror node, a relay or another service.
type RegisteredNode struct {
	RegisteredNodeID int64
	AdminKey         *KeyInfo
	CreatedTimestamp Null[Timestamp]
	Deleted          bool
	Description      Null[string]
	ServiceEndpoints []*RegisteredServiceEndpoint
	Timestamp        TimestampRange
	Types            []RegisteredNodeType
}

// RegisteredServiceEndpoint is an endpoint of a registered node.
type RegisteredServiceEndpoint struct {
	BlockNode      *BlockNodeService
	DomainName     Null[string]
	GeneralService *GeneralService
	IPAddress      Null[string]
	MirrorNode     Null[Empty]
	Port           int32
	RequiresTLS    bool
	RPCRelay       Null[Empty]
}

// Type returns the type of service that the endpoint provides.
func (e *RegisteredServiceEndpoint) Type() RegisteredNodeType {
	switch {
	case e.BlockNode != nil:
		return RegisteredBlockNode
	case e.GeneralService != nil:
		return RegisteredGeneralService
	case e.MirrorNode.Valid:
		return RegisteredMirrorNode
	case e.RPCRelay.Valid:
		return RegisteredRPCRelay
	default:
		return RegisteredGeneralService
	}
}

// BlockNodeService describes the services of a block node's endpoint.
type BlockNodeService struct {
	EndpointAPIs []BlockNodeAPI
}

// GeneralService is a service of another type.
type GeneralService struct {
	Description Null[string]
}

// Empty is an object without fields.
type Empty struct{}

// BlockNodeAPI is an API of a block node.
type BlockNodeAPI string

// The APIs of block nodes. BlockNodeUnrecognized is an API that this version does not support.
const (
	BlockNodeOther           BlockNodeAPI = "OTHER"
	BlockNodePublish         BlockNodeAPI = "PUBLISH"
	BlockNodeStateProof      BlockNodeAPI = "STATE_PROOF"
	BlockNodeStatus          BlockNodeAPI = "STATUS"
	BlockNodeSubscribeStream BlockNodeAPI = "SUBSCRIBE_STREAM"
	BlockNodeUnrecognized    BlockNodeAPI = "UNRECOGNIZED"
)

// BlockNodeAPIOf returns the API of a database value.
func BlockNodeAPIOf(name string) BlockNodeAPI {
	switch api := BlockNodeAPI(name); api {
	case BlockNodeOther, BlockNodePublish, BlockNodeStateProof, BlockNodeStatus, BlockNodeSubscribeStream:
		return api
	default:
		return BlockNodeUnrecognized
	}
}

// RegisteredNodeType is the type of a registered node.
type RegisteredNodeType string

// The types of registered nodes.
const (
	RegisteredUnknown        RegisteredNodeType = "UNKNOWN"
	RegisteredBlockNode      RegisteredNodeType = "BLOCK_NODE"
	RegisteredGeneralService RegisteredNodeType = "GENERAL_SERVICE"
	RegisteredMirrorNode     RegisteredNodeType = "MIRROR_NODE"
	RegisteredRPCRelay       RegisteredNodeType = "RPC_RELAY"
)

var registeredNodeTypes = []RegisteredNodeType{RegisteredUnknown, RegisteredBlockNode, RegisteredGeneralService, RegisteredMirrorNode, RegisteredRPCRelay}

// RegisteredNodeTypeOf returns the type of a database value.
func RegisteredNodeTypeOf(code int16) RegisteredNodeType {
	return nameOf(registeredNodeTypes, int32(code))
}

// Code returns the database value of the type, or 0.
func (t RegisteredNodeType) Code() int16 { return int16(max(slices.Index(registeredNodeTypes, t), 0)) }

// RegisteredNodeFilter selects registered nodes.
type RegisteredNodeFilter struct {
	RegisteredNodeID *LongFilter
	Type             *RegisteredNodeType
}

// NetworkFreshness describes how recent the data are.
type NetworkFreshness struct {
	NewestBlock *Block
	Lag         float64 // in seconds
}

// NetworkStake is the network's stake at the end of a staking period: a row of the table network_stake.
type NetworkStake struct {
	ConsensusTimestamp             Timestamp
	MaxStakeRewarded               int64 // tinybars, as all amounts here
	MaxStakingRewardRatePerHbar    int64
	MaxTotalReward                 int64
	NodeRewardFeeFraction          Share
	ReservedStakingRewards         int64
	RewardBalanceThreshold         int64
	StakeTotal                     int64
	StakingPeriod                  TimestampRange
	StakingPeriodDuration          int64 // minutes
	StakingPeriodsStored           int64
	StakingRewardFeeFraction       Share
	StakingRewardRate              int64
	StakingStartThreshold          int64
	UnreservedStakingRewardBalance int64
}

// StakingPeriodOf returns the day that begins one nanosecond after an instant.
func StakingPeriodOf(end Timestamp) TimestampRange {
	const day = Timestamp(24 * 60 * 60 * second)
	return TimestampRange{From: Of(end + 1), To: Of(end + 1 + day)}
}

// Share is a fraction with nine decimals, rounded to the nearest 32-bit float.
type Share float32

// NewShare returns numerator / denominator, with the ninth decimal rounded half up. If the denominator is 0, it returns 0.
func NewShare(numerator, denominator int64) Share {
	if denominator == 0 {
		return 0
	}
	const decimals = 9
	text := new(big.Rat).SetFrac64(numerator, denominator).FloatString(decimals) // rounds halves away from zero
	f, err := strconv.ParseFloat(text, 32)
	if err != nil {
		return 0 // a quotient of 64-bit integers always fits
	}
	return Share(f)
}
