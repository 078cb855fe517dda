package gateway

import (
	"cmp"
	"math"
	"time"

	"heliograph/graph/limits"
	"heliograph/graph/rowplan"
	"heliograph/graph/server"
	"heliograph/internal/domain/evm/calls"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/media"
	"heliograph/resolvers"
	"heliograph/resolvers/contractcalls"
	"heliograph/resolvers/loading"
	"heliograph/resolvers/statuspages"
	"heliograph/rest"
	v1 "heliograph/rest/v1"
	"heliograph/storage"
	"heliograph/storage/entities"
	"heliograph/storage/ledgerstate"
	"heliograph/storage/transactions"
)

// describeSelf returns the value of the field gateway of the graph: version, capabilities and limits from the
// options. Resolvers add what they read from the database. It reads and changes nothing else.
func describeSelf(o *Options) *ledger.Gateway {
	evm, g, days := o.EVM, &o.Graph, func(d time.Duration) int32 { return int32(d / (24 * time.Hour)) }
	return &ledger.Gateway{
		Version: o.Version, Compatibility: rest.CompatibleVersion,
		Capabilities: &ledger.GatewayCapabilities{
			StateOverrides: evm.Overrides, Simulations: evm.Simulations, Opcodes: !evm.TracesOff,
			Prestate: evm.Prestate, Introspection: !g.IntrospectionOff, AnyDocument: !g.OnlyTrusted,
			SyntheticContractResults: !o.SyntheticOff,
			StatusPages:              o.Status != nil, APIKeys: o.Rates.KeyFile != "", Exports: g.CSVRows > 0,
			Subscriptions: g.Streams.Most > 0, Mcp: g.MCP, FetchMedia: o.Media.Fetch != nil,
		},
		Limits: &ledger.GatewayLimits{
			Documents: &ledger.GatewayDocumentLimits{
				Cost: count(g.Bounds.Cost), Bytes: count(g.Bounds.Bytes), Tokens: count(g.Bounds.Tokens),
				Depth: count(g.Bounds.Depth), Fields: count(g.Bounds.Fields), RootFields: count(g.Bounds.RootFields),
				Aliases: count(g.Bounds.Aliases), Directives: count(g.Bounds.Directives),
			},
			Requests: &ledger.GatewayRequestLimits{
				BodyBytes: count(g.MaxBody), BodyValues: count(g.MaxValues), BodyDepth: server.MaxNesting,
				Batch: server.MaxBatch, Keys: loading.MaxKeys, References: resolvers.MaxReferences,
				Addresses: resolvers.MaxAddresses, Alternatives: resolvers.MaxAlternatives,
				ResponseBytes: count(cmp.Or(g.MaxResponse, rowplan.DefaultMaxResponse)), ExportRows: count(g.CSVRows),
				Timeout: count(o.RequestTimeout.Milliseconds()),
			},
			Pages: &ledger.GatewayPageLimits{
				Default: count(o.REST.LimitDefault), Max: count(o.REST.LimitMax),
				BalanceTokens: resolvers.MaxTokensOfBalance,
			},
			Subscriptions: &ledger.GatewaySubscriptionLimits{
				All: count(g.Streams.Most), PerClient: unlessZero(g.Streams.PerClient),
				PerConnection: count(g.Streams.PerConnection),
			},
			Rates: &ledger.GatewayRateLimits{
				PerMinute: unlessZero(o.Rates.PerMinute), PerMinuteOfKeys: unlessZero(o.Rates.PerMinuteOfKeys),
				CostPerPoint: server.CostPerPoint, ScanCost: limits.ScanCost,
			},
			ContractCalls: &ledger.GatewayContractCallLimits{
				Gas: evm.MaxGas, GasPerSecond: evm.GasPerSecond, PerSecond: evm.RequestsPerSecond,
				TracesPerSecond: evm.TracesPerSecond, Timeout: count(evm.Timeout.Milliseconds()),
				SimulationTimeout: count(evm.SimulationTimeout.Milliseconds()),
				TraceTimeout:      count(evm.TraceTimeout.Milliseconds()),
				Overrides:         calls.MaxOverrides, OverrideSlots: calls.MaxOverrideSlots,
				SimulatedBlocks: calls.MaxSimulatedBlocks, SimulatedCalls: calls.MaxSimulatedCalls,
				SimulatedData: calls.MaxSimulatedData, SimulatedBytes: contractcalls.MaxSimulatedBytes,
				TraceSteps: contractcalls.MaxListedSteps, TraceActions: contractcalls.MaxActions,
				TraceBytes: contractcalls.MaxListedBytes, PrestateAccounts: contractcalls.MaxTouched,
				PrestateBytes: contractcalls.MaxPrestateBytes, AbiBytes: abi.MaxText, AbiDepth: abi.MaxDepth,
				AbiWords: abi.MaxWords,
			},
			Reads: &ledger.GatewayReadLimits{
				Periods: ledger.MaxPeriods, StatisticsRows: transactions.MaxStatistics,
				StatisticsBlocks: transactions.MaxStatisticsBlocks, SoughtTransfers: transactions.MaxSoughtTransfers,
				TokenTransferHours: int32(resolvers.MaxTokenRange / time.Hour),
				TopicSearchDays:    days(resolvers.MaxTopicSearch), UptimeDays: statuspages.MaxUptimeDays,
				SortedHolders: entities.MaxSortedHolders, PastTransfers: ledgerstate.MaxTransfers,
				PastTokenTransfers: ledgerstate.MaxTokenTransfers, PastNFTs: ledgerstate.MaxNFTs,
				PastHolders: ledgerstate.MaxHolders, HistoryTransfers: ledgerstate.MaxHistoryTransfers,
				PastUnindexedRows: storage.MaxUnindexed, MovedRows: ledgerstate.MaxMoved,
				FeeTransactionBytes: fees.MaxBytes, FileBytes: media.MaxFile, FileMessages: media.MaxParts,
				MetadataBytes: media.MaxMetadata, MetadataMessages: media.MaxMetadataParts,
				MetadataEntries: media.MaxListed,
			},
			Rest: &ledger.GatewayRestLimits{
				Parameters: rest.MaxParameters, RepeatedParameters: count(o.REST.MaxRepeats),
				TimestampDays: days(rest.MaxTimestampRange), CallBodyBytes: v1.MaxCallBody,
				FeeBodyBytes: count(o.REST.FeeBodyBytes),
			},
		},
	}
}

// count returns a limit as an integer of the graph, whose largest value stands for larger ones.
func count[N int | int64](n N) int32 { return int32(min(int64(n), math.MaxInt32)) }

// unlessZero returns a limit as an integer of the graph, or null if it is 0, which means that there is no limit.
func unlessZero(n int) ledger.Null[int32] {
	return ledger.Null[int32]{V: count(n), Valid: n != 0}
}
