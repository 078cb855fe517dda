package resolvers_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/graph/relay"
)

// networkQueries returns documents that follow all relations of schedules and of the network.
func networkQueries() map[string]string {
	const transaction = `consensusTimestamp name: type scheduled entityId`
	return map[string]string{
		"schedules": `{ schedules(first: 50) { edges { cursor } nodes { id entityId memo storedMemo state deleted createdTimestamp expirationTimestamp timestamp { from to } adminKey { type } waitForExpiry transactionBody
creator { entityId } payer { memo } creation { ` + transaction + ` schedule { entityId } } execution { ` + transaction + ` schedule { entityId state } } signatures { consensusTimestamp type publicKeyPrefix signature } } pageInfo { hasNextPage } } }`,
		"schedule": `{ schedule(id: 5001) { __typename ... on Entity { memo expirationTimestamp } ... ` +
			`on Node { id } creator { schedules(last: 2, order: DESC) { nodes { entityId } } } } none: schedule(id: ` +
			`2) { memo } }`,
		"schedules of accounts": `{ accounts(filter: {id: {gt: "1000", lt: "1020"}}) { nodes { entityId ` +
			`schedules(first: 2) { nodes { entityId state signatures { type } } pageInfo { hasNextPage endCursor } ` +
			`} } } }`,
		"schedules of others": `{ transactions(first: 40, filter: {types: [SCHEDULECREATE, SCHEDULESIGN, ` +
			`SCHEDULEDELETE]}) { nodes { name: type entityId schedule { entityId } } } }`,
		"filters": `{ schedules(filter: {creatorAccountId: {gt: "1000"}, id: {ne: 5001}}) { nodes { ` +
			`entityId creatorAccountId } } }`,
		"nodes": `{ network { nodes(first: 2, order: DESC) { edges { cursor node { id nodeId } } ` +
			`nodes { nodeId fileId deleted createdTimestamp account { entityId node { nodeId } stakedNode { nodeId ` +
			`} } serviceEndpoints { ipAddressV4 port domainName } grpcProxyEndpoint { port } registeredNodes { ` +
			`registeredNodeId networkNodes { nodeId } } stakingPeriod { from to } stake maxStake } pageInfo { ` +
			`hasNextPage hasPreviousPage } } } }`,
		"a node": `{ network { node(nodeId: 3) { nodeId description } book: node(nodeId: 3, file: ` +
			`101) { fileId } none: node(nodeId: 99) { nodeId } } }`,
		"registered nodes": `{ network { registeredNodes { nodes { id registeredNodeId types description ` +
			`deleted timestamp { from to } networkNodes { nodeId description } serviceEndpoints { type port ` +
			`requiresTls domainName ipAddress mirrorNode rpcRelay blockNode { endpointApis } generalService { ` +
			`description } } } pageInfo { startCursor endCursor } } } }`,
		"registered, of a type": `{ network { registeredNodes(filter: {type: BLOCK_NODE, registeredNodeId: {lt: ` +
			`100}}, first: 1) { nodes { registeredNodeId } } one: registeredNode(registeredNodeId: 1) { description ` +
			`} none: registeredNode(registeredNodeId: 77) { description } } }`,
		"figures": `{ network { supply { releasedSupply releasedHbar totalSupply totalHbar timestamp ` +
			`} stake { stakeTotal nodeRewardFeeFraction stakingPeriod { from to } consensusTimestamp } fees { fees ` +
			`{ gas transactionType } timestamp } down: fees(order: DESC) { fees { transactionType } } exchangeRate ` +
			`{ currentRate { centEquivalent hbarEquivalent expirationTime } nextRate { centEquivalent } timestamp } ` +
			`freshness { newestBlock { number hash timestamp { to } previous { number } } lag } } }`,
		"figures of the past": `{ network { supply(at: {lte: "1"}) { timestamp } fees(at: {lt: "1"}) { timestamp ` +
			`} exchangeRate(at: {gt: "9000000000"}) { timestamp } } }`,
		"nodes of transactions": `{ transactions(first: 30) { nodes { nodeAccountId node { nodeId nodeAccountId: ` +
			`accountId } } } }`,
		"staking": `{ accounts(first: 60) { nodes { entityId stakedNodeId stakedNode { nodeId ` +
			`description } node { nodeId } } } }`,
		"the same network twice": `{ network { stake { stakeTotal } } network { stake { stakingRewardRate } } ` +
			`again: network { __typename nodes(first: 1) { nodes { __typename } } } }`,
	}
}

// TestNetworkQueries checks that the queries have rows and no errors.
func TestNetworkQueries(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for name, query := range networkQueries() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := g.Query(t, query, nil)
			if strings.Contains(got.Body, `"errors"`) || strings.Contains(got.Body, `"nodes":[]}`) {
				t.Errorf("the answer is %s", got.Body)
			}
		})
	}
}

type named struct{ EntityID string }

// TestScheduleArrows follows the relations from schedules to their transactions and back.
func TestScheduleArrows(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type transaction struct {
		ConsensusTimestamp, Name string
		Scheduled                bool
		Schedule                 *named
	}
	var data struct {
		Schedules struct {
			Nodes []struct {
				ID, EntityID, State, CreatedTimestamp string
				ExecutedTimestamp                     *string
				Deleted                               bool
				Creation, Execution                   *transaction
				Creator, Payer                        *named
				CreatorAccountID, PayerAccountID      string
				Signatures                            []struct{ ConsensusTimestamp string }
			}
		}
	}
	g.Data(t, `{ schedules(first: 100) { nodes { id entityId state createdTimestamp executedTimestamp deleted creatorAccountId payerAccountId creator { entityId } payer { entityId }
creation { consensusTimestamp name: type scheduled schedule { entityId } } execution { consensusTimestamp name: type scheduled schedule { entityId } } signatures { consensusTimestamp } } } }`, nil, &data)
	states := map[string]int{}
	for _, s := range data.Schedules.Nodes {
		states[s.State]++
		if s.Creation == nil || s.Creation.ConsensusTimestamp != s.CreatedTimestamp ||
			s.Creation.Name != "SCHEDULECREATE" || s.Creation.Schedule == nil ||
			s.Creation.Schedule.EntityID != s.EntityID {
			t.Errorf("%s was created by %+v", s.EntityID, s.Creation)
		}
		if s.Creator == nil || s.Creator.EntityID != s.CreatorAccountID || s.Payer == nil ||
			s.Payer.EntityID != s.PayerAccountID {
			t.Errorf("%s has creator %v and payer %v", s.EntityID, s.Creator, s.Payer)
		}
		if (s.Execution != nil) != (s.ExecutedTimestamp != nil) || (s.State == "EXECUTED") != (s.Execution != nil) ||
			s.Deleted && s.State != "DELETED" {
			t.Errorf("%s is %s, executed %v", s.EntityID, s.State, s.Execution)
		}
		if x := s.Execution; x != nil && (x.ConsensusTimestamp != *s.ExecutedTimestamp || !x.Scheduled ||
			x.Schedule == nil || x.Schedule.EntityID != s.EntityID) {
			t.Errorf("%s was executed by %+v", s.EntityID, x)
		}
		for i, signature := range s.Signatures {
			if i > 0 && signature.ConsensusTimestamp < s.Signatures[i-1].ConsensusTimestamp {
				t.Errorf("the signatures of %s are not in order", s.EntityID)
			}
		}
		var again struct{ Node struct{ EntityID string } }
		g.Data(t, `query($id: ID!) { node(id: $id) { ... on Schedule { entityId } } }`, map[string]any{"id": s.ID},
			&again)
		if again.Node.EntityID != s.EntityID {
			t.Errorf("the id of %s is that of %s", s.EntityID, again.Node.EntityID)
		}
	}
	for _, state := range []string{"PENDING", "EXECUTED", "DELETED", "EXPIRED"} {
		if states[state] == 0 {
			t.Errorf("no schedule is %s: %v", state, states)
		}
	}
}

// TestNodeArrows follows the relations of nodes in both directions.
func TestNodeArrows(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	type node struct {
		ID               string
		NodeID, FileID   string
		NodeAccountID    string
		Account          *struct{ Node *struct{ NodeID string } }
		ServiceEndpoints []struct{ Port int }
		RegisteredNodes  []struct {
			RegisteredNodeID string
			NetworkNodes     []struct{ NodeID string }
		}
	}
	const fields = `id nodeId fileId nodeAccountId: accountId account { node { nodeId } } serviceEndpoints { port } ` +
		`registeredNodes { registeredNodeId networkNodes { nodeId } }`
	var data struct {
		Network struct{ Nodes, Book struct{ Nodes []node } }
	}
	g.Data(t, `{ network { nodes { nodes { `+fields+` } } book: nodes(file: 101) { nodes { `+fields+` } } } }`,
		nil, &data)
	if len(data.Network.Nodes.Nodes) < 7 || len(data.Network.Book.Nodes) < 7 {
		t.Fatalf("%d nodes, %d in the other book", len(data.Network.Nodes.Nodes), len(data.Network.Book.Nodes))
	}
	for _, n := range append(data.Network.Nodes.Nodes, data.Network.Book.Nodes...) {
		if n.Account == nil || n.Account.Node == nil || n.Account.Node.NodeID != n.NodeID {
			t.Errorf("node %s has the account %s, whose node is %+v", n.NodeID, n.NodeAccountID, n.Account)
		}
		if len(n.ServiceEndpoints) == 0 {
			t.Errorf("node %s listens nowhere", n.NodeID)
		}
		for _, r := range n.RegisteredNodes {
			back := false
			for _, o := range r.NetworkNodes {
				back = back || o.NodeID == n.NodeID
			}
			if !back {
				t.Errorf("registered node %s does not lead back to %s", r.RegisteredNodeID, n.NodeID)
			}
		}
		var again struct {
			Node struct{ NodeID, FileID string }
		}
		g.Data(t, `query($id: ID!) { node(id: $id) { ... on NetworkNode { nodeId fileId } } }`,
			map[string]any{"id": n.ID}, &again)
		if again.Node.NodeID != n.NodeID || again.Node.FileID != n.FileID {
			t.Errorf("the id of %s in %s is that of %+v", n.NodeID, n.FileID, again.Node)
		}
	}
}

// TestNetworkRefuses tests invalid arguments and missing objects.
func TestNetworkRefuses(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for query, want := range map[string]string{
		`{ network { supply(at: {ne: "1"}) { timestamp } } }`: "ne and notIn are not " +
			"supported here",
		`{ network { fees(at: {notIn: ["1"]}) { timestamp } } }`: "ne and notIn are not " +
			"supported here",
		`{ network { exchangeRate(at: {ne: "1"}) { timestamp } } }`: "ne and notIn are not " +
			"supported here",
		`{ network { supply(at: {gt: "2", lt: "1"}) { timestamp } } }`: "the lower bound is above the " +
			"upper bound",
		`{ network { supply(at: {in: []}) { timestamp } } }`: "the lower bound is above the " +
			"upper bound",
		`{ network { nodes(first: 101) { nodes { nodeId } } } }`: "first must be between 0 and 100",
		`{ network { registeredNodes(after: "x") { nodes { registeredNodeId } } } }`: "after: the cursor is not one " +
			"of this list",
		`{ schedules(first: 1, last: 1) { nodes { memo } } }`:                   "give either first or last, not both",
		`{ node(id: "` + relay.ID("NetworkNode", "0.0.102") + `") { id } }`:     `is not a number`,
		`{ node(id: "` + relay.ID("NetworkNode", "x:1") + `") { id } }`:         `x`,
		`{ node(id: "` + relay.ID("RegisteredNode", "x") + `") { id } }`:        `is not a number`,
		`{ node(id: "` + relay.ID("Schedule", "x") + `") { id } }`:              `x`,
		`{ node(id: "` + relay.ID("Schedule", "0.0.999999") + `") { id } }`:     "",
		`{ node(id: "` + relay.ID("RegisteredNode", "999") + `") { id } }`:      "",
		`{ node(id: "` + relay.ID("NetworkNode", "0.0.102:999") + `") { id } }`: "",
		`{ node: schedule(id: 1002) { id } }`:                                   "",
	} {
		var answer struct {
			Data   map[string]json.RawMessage
			Errors []struct {
				Message    string
				Extensions struct{ Code string }
			}
		}
		testenv.Decode(t, g.Query(t, query, nil).Body, &answer)
		switch {
		case want == "" && (answer.Errors != nil || string(answer.Data["node"]) != "null"):
			t.Errorf("%s: %+v", query, answer)
		case want != "" && (len(answer.Errors) != 1 || !strings.Contains(answer.Errors[0].Message, want) ||
			answer.Errors[0].Extensions.Code != "BAD_USER_INPUT"):
			t.Errorf("%s: %+v", query, answer.Errors)
		}
	}
}

// TestNetworkStatements checks that a relation is read for all parents at once.
func TestNetworkStatements(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][2]int{
		`{ schedules(first: 50) { nodes { creator { memo } payer { memo } signatures { type } creation { name: type ` +
			`schedule { memo } } execution { name: type schedule { memo } } } } }`: {7, 3},
		`{ network { nodes { nodes { account { memo node { nodeId } } serviceEndpoints { port } registeredNodes { ` +
			`networkNodes { nodeId } } } } } }`: {6, 3},
		`{ accounts(first: 100, filter: {id: {gte: "1000"}}) { nodes { schedules(first: 2) { nodes { signatures { ` +
			`type } } } stakedNode { serviceEndpoints { port } } } } }`: {5, 3},
	} {
		if got := count(t, query); got.not(want[0], want[1]) {
			t.Errorf("%s: %d statements in %d round trips, want %v:\n%s", query, len(got.statements), got.trips,
				want, strings.Join(got.statements, "\n---\n"))
		}
	}
}

// TestFreshness compares the newest block and its age with the list of blocks and the clock.
func TestFreshness(t *testing.T) {
	t.Parallel()
	const later = 90*time.Second + 250*time.Millisecond
	age := func(g *testenv.Gateway) (lag float64) {
		type block struct{ Number string }
		var data struct {
			Network struct {
				Freshness *struct {
					NewestBlock block
					Lag         float64
				}
			}
			Blocks struct{ Nodes []block }
		}
		g.Data(t,
			`{ network { freshness { newestBlock { number } lag } } blocks(first: 1, order: DESC) { nodes { number `+
				`} } }`, nil, &data)
		f := data.Network.Freshness
		if f == nil || len(data.Blocks.Nodes) != 1 || f.NewestBlock != data.Blocks.Nodes[0] {
			t.Fatalf("%+v", data)
		}
		return f.Lag
	}
	now := age(testenv.Shared(t))
	then := age(testenv.Demo(t, func(o *testenv.Options) {
		o.REST.Now = func() time.Time { return testenv.Now().Add(later) }
	}))
	if now < 0 || now > 3600 || math.Abs(then-now-later.Seconds()) > 1e-3 {
		t.Errorf("the lag is %g s, and %g s %s later", now, then, later)
	}
	none := testenv.Over(t, testenv.Empty.Fresh(t)).Query(t, `{ network { freshness { lag } } }`, nil)
	if none.Body != `{"data":{"network":{"freshness":null}}}` {
		t.Error("without blocks: ", none.Body)
	}
}
