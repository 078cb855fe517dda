package v1_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// networkRows are the rows for the tests of the network endpoints.
var networkRows = testenv.Rows("network", func(b *pgx.Batch) {
	for _, sql := range []string{
		`insert into entity (id, num, realm, shard, type, timestamp_range, memo, balance, balance_timestamp) values
(42, 42, 0, 0, 'ACCOUNT', '[1,)', '', null, null), (43, 43, 0, 0, 'ACCOUNT', '[1,)', '', 99, 9), (44, 44, 0, 0, 'ACCOUNT', '[1,)', '', 6, 3),
(73, 73, 0, 0, 'CONTRACT', '[1,)', '', 4, 2), (751, 751, 0, 0, 'ACCOUNT', '[1,)', '', 99, 9)`,
		// 1699000000 is in November 2023, the others in December, January and February.
		`insert into account_balance (consensus_timestamp, balance, account_id) values
(1699000000000000000, 5, 2), (1702000000000000000, 10, 2), (1702000000000000000, 20, 44), (1704500000000000000, 11, 2), (1704600000000000000, 99, 43),
(1707000000000000000, 4999999999999999999, 2)`,
		// Rates: 30000 hbar are worth 450041 cents until 1651762800, then 435305.
		`insert into file_data (entity_id, consensus_timestamp, file_data, transaction_type) values
(112, 1000000001000000000, '\x0a1008b0ea0110f9bb1b1a0608f0cccf9306121008b0ea0110e9c81a1a060880e9cf9306', 17),
(112, 1000000002000000000, '\x0a020803', 19), (112, 1000000003000000000, '\x', 19), (112, 1000000004000000000, '\x1202080b', 16),
(112, 1000000005000000000, '\xff', 19), (112, 1000000006000000000, '\xff', 16)`,
		`insert into file_data (entity_id, consensus_timestamp, file_data, transaction_type) values
(111, 1000000001500000000, '\x0a280a0a08541a061a0440a8953a0a0a08061a061a0440a8aa330a0a', 17), (111, 1000000001600000000, '\x08071a061a0440c0843d120208011200', 16)`,
		`insert into address_book (start_consensus_timestamp, end_consensus_timestamp, file_id, node_count, file_data) values
(10, 20, 102, 1, '\x'), (11, null, 101, 1, '\x'), (20, null, 102, 5, '\x')`,
		`insert into address_book_entry (consensus_timestamp, memo, public_key, node_id, node_account_id, node_cert_hash, description) values
(10, 'old', 'aa', 10, 3, '\x', 'old'), (11, 'brief', 'aa', 10, 3, '\x', 'brief'),
(20, 'm', '4a5a', 10, 3, '\x30316431', 'ten'), (20, null, '0x4a', 11, 4, null, null), (20, 'm', null, 12, 5, '\x3078', 'x'), (20, 'm', '', 13, 6, '', 'x'), (20, 'm', '', 14, 7, '', 'x')`,
		`insert into address_book_service_endpoint (consensus_timestamp, ip_address_v4, node_id, port, domain_name) values
(20, '127.0.0.2', 10, 1, ''), (20, '127.0.0.1', 10, 50212, ''), (20, '127.0.0.1', 10, 50211, ''), (20, '', 10, 443, 'n.example'), (10, '9.9.9.9', 10, 1, '')`,
		`insert into node (node_id, admin_key, deleted, decline_reward, grpc_proxy_endpoint, account_id, associated_registered_nodes, timestamp_range) values
(10, '\x3200', false, true, '{"domain_name": null, "ip_address_v4": "1.2.3.4", "port": 80}', 1003, '{7,1}', '[5,)'), (13, '\x1220' || decode(repeat('ab', 32), 'hex'), true, false, null, null, null, '[6,)')`,
		`insert into node_stake (consensus_timestamp, epoch_day, node_id, reward_rate, stake, stake_rewarded, staking_period, max_stake, min_stake, stake_not_rewarded) values
(100, 1, 10, 1, 1, 1, 1, 1, 1, 1), (200, 2, 10, 6, 13, 5, 86399999999999, 5000, 10, 8), (200, 2, 11, 0, 0, 0, 86399999999999, -1, -1, -1), (100, 1, 12, 1, 1, 1, 1, 1, 1, 1)`,
		`insert into registered_node (registered_node_id, admin_key, created_timestamp, deleted, description, service_endpoints, timestamp_range, type) values
(0, null, null, false, null, null, '[8,)', '{}'),
(1, '\x0102', 9, false, 'one', '[{"block_node": {"endpoint_apis": ["STATUS", "FUTURE"]}, "domain_name": "b.example", "port": 1, "requires_tls": true},
  {"block_node": null, "general_service": {"description": "g"}, "ip_address": "1.2.3.4", "port": 2, "requires_tls": false}, {"general_service": {}, "port": 3},
  {"mirror_node": {}, "port": 4}, {"rpc_relay": {}, "port": 5}, {"port": 6}, {"block_node": {}, "mirror_node": {}, "port": 7}]', '[9,)', '{1,2}'),
(2, null, 9, true, 'gone', '[]', '[9,)', '{1}'), (3, null, 9, false, 'three', '[]', '[9,)', '{4}')`,
		`insert into network_stake (consensus_timestamp, epoch_day, max_staking_reward_rate_per_hbar, node_reward_fee_denominator, node_reward_fee_numerator, stake_total,
  staking_period, staking_period_duration, staking_periods_stored, staking_reward_fee_denominator, staking_reward_fee_numerator, staking_reward_rate, staking_start_threshold,
  max_stake_rewarded, max_total_reward, reserved_staking_rewards, reward_balance_threshold, unreserved_staking_reward_balance) values
(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), (2, 2, 17808, 0, 1, 9223372036854775807, 86399999999999, 1440, 365, 3, 1, 100, 200, 10, 20, 30, 40, 50)`,
	} {
		b.Queue(sql)
	}
})

func badRequestBody(details ...string) string {
	items := make([]string, len(details))
	for i, d := range details {
		items[i] = `{"message":"Bad Request","detail":"` + d + `"}`
	}
	return `{"_status":{"messages":[` + strings.Join(items, ",") + `]}}`
}

func notFoundBody(detail string) string {
	return `{"_status":{"messages":[{"message":"Not Found","detail":"` + detail + `"}]}}`
}

func invalidBody(names ...string) string {
	items := make([]string, len(names))
	for i, n := range names {
		items[i] = `{"message":"Invalid parameter: ` + n + `"}`
	}
	return `{"_status":{"messages":[` + strings.Join(items, ",") + `]}}`
}

// supply returns the body for an amount of tinybars.
func supply(released, at string) string {
	return `{"released_supply":"` + released + `","timestamp":"` + at + `","total_supply":"5000000000000000000"}`
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, networkRows.Shared(t))
	const (
		firstRates = `{"current_rate":{"cent_equivalent":450041,"expiration_time":1651762800,` +
			`"hbar_equivalent":30000},"next_rate":{"cent_equivalent":435305,"expiration_time":1651766400,` +
			`"hbar_equivalent":30000},"timestamp":"1000000001.000000000"}`
		updated = `{"current_rate":{"cent_equivalent":0,"expiration_time":null,"hbar_equivalent":3},` +
			`"next_rate":null,"timestamp":"1000000002.000000000"}`
		appended = `{"current_rate":{"cent_equivalent":0,"expiration_time":null,"hbar_equivalent":3},` +
			`"next_rate":{"cent_equivalent":0,"expiration_time":null,"hbar_equivalent":11},` +
			`"timestamp":"1000000004.000000000"}`
		noRange = "Invalid range provided for timestamp"
	)
	gone := notFoundBody("Network supply not found")
	noRates, noFees := notFoundBody("File 0.0.112 not found"), notFoundBody("File 0.0.113 not found")
	for path, want := range map[string]string{
		"/supply":                    supply("4999999999999999990", "0.000000003"),
		"/supply?timestamp=":         supply("4999999999999999990", "0.000000003"),
		"/supply?Timestamp=x&foo=ne": supply("4999999999999999990", "0.000000003"),
		"/supply?timestamp=lte:1702000000&timestamp=gt:1": supply("4999999999999999970", "1702000000.000000000"),
		"/supply?timestamp=1699000000":                    supply("4999999999999999995", "1699000000.000000000"),
		"/supply?timestamp=EQ:1704499999.999999999":       supply("4999999999999999970", "1702000000.000000000"),
		// Rows of one account may be older than those of another, but not older than the previous month.
		"/supply?timestamp=1704500000": supply("4999999999999999969",
			"1704500000.000000000"),
		"/supply?timestamp=1707000000": supply("1", "1707000000.000000000"),
		"/supply?timestamp=1706000000&timestamp=gte:1704000000": supply("4999999999999999989",
			"1704500000.000000000"),
		"/supply?timestamp=lt:1702000000,lt:1704500000": supply("4999999999999999970",
			"1702000000.000000000"),
		"/supply?timestamp=gt:1702000000&timestamp=lt:1702000000.000000001": badRequestBody(noRange),
		"/supply?timestamp=gte:1702000000&timestamp=1702000000": supply("4999999999999999970",
			"1702000000.000000000"),
		"/supply?timestamp=gt:2&timestamp=1":     badRequestBody(noRange),
		"/supply?timestamp=lt:0":                 badRequestBody(noRange),
		"/supply?timestamp=gt:2&timestamp=1&q=x": badRequestBody("Failed to convert 'q'"),
		"/supply?timestamp=1":                    gone,
		"/supply?timestamp=gt:1":                 gone,
		"/supply?timestamp=1&q=totalcoins":       gone,
		"/supply?timestamp=ne:1&q=x":             badRequestBody("Failed to convert 'timestamp'"),
		"/supply?timestamp=1&timestamp=2&timestamp=3": badRequestBody("timestamp size must be " +
			"between 0 and 2"),
		"/supply?timestamp=9223372036.854775808":     badRequestBody("Failed to convert 'timestamp'"),
		"/supply?q=total":                            badRequestBody("Failed to convert 'q'"),
		"/supply?q=totalcoins":                       "50000000000.00000000",
		"/supply?q=Total-Coins":                      "50000000000.00000000",
		"/supply?q=CIRCULATING":                      "49999999999.99999990",
		"/supply?q=circulating&timestamp=1707000000": "0.00000001",

		"/exchangerate":                                                   appended,
		"/exchangerate?timestamp=1000000006":                              appended,
		"/exchangerate?timestamp=lt:1000000005":                           appended,
		"/exchangerate?timestamp=gt:1000000001":                           appended,
		"/exchangerate?timestamp=1000000003":                              updated, // the empty update changes nothing
		"/exchangerate?timestamp=lt:1000000004":                           updated,
		"/exchangerate?timestamp=1000000001":                              firstRates,
		"/exchangerate?timestamp=1000000001.999":                          firstRates,
		"/exchangerate?timestamp=gte:1000000001&timestamp=lte:1000000001": firstRates,
		"/exchangerate?timestamp=lt:1000000002&timestamp=1000000003":      updated, // the last one applies
		"/exchangerate?timestamp=lt:1000000001":                           noRates,
		// a version whose first part is excluded
		"/exchangerate?timestamp=gt:1000000002":       noRates,
		"/exchangerate?timestamp=gte:1000000005":      noRates,
		"/exchangerate?timestamp=gt:5&timestamp=lt:4": noRates,
		"/exchangerate?timestamp=x":                   badRequestBody("Failed to convert 'timestamp'"),

		"/fees?timestamp=1000000001.600000000": `{"fees":[{"gas":63,"transaction_type":"ContractCall"},` +
			`{"gas":63,"transaction_type":"ContractCreate"},{"gas":63,"transaction_type":"EthereumTransaction"}],` +
			`"timestamp":"1000000001.600000000"}`,
		"/fees?timestamp=1000000001.600000000&order=DESC": `{"fees":[{"gas":63,` +
			`"transaction_type":"EthereumTransaction"},{"gas":63,"transaction_type":"ContractCreate"},{"gas":63,` +
			`"transaction_type":"ContractCall"}],"timestamp":"1000000001.600000000"}`,
		"/fees":                                noFeesYet,
		"/fees?timestamp=1000000001.599999999": noFees,
		"/fees?timestamp=gt:1000000001.500000000":                          noFees,
		"/fees?timestamp=gte:1000000001.500000000&timestamp=lt:1000000002": noRates,
		"/fees?order=up&timestamp=x": badRequestBody("Failed to convert " +
			"'timestamp'"),
		"/fees?order=up&timestamp=1": badRequestBody("Failed to convert 'order'"),

		"/stake": `{"max_stake_rewarded":10,"max_staking_reward_rate_per_hbar":17808,` +
			`"max_total_reward":20,"node_reward_fee_fraction":0.0,"reserved_staking_rewards":30,` +
			`"reward_balance_threshold":40,"stake_total":9223372036854775807,` +
			`"staking_period":{"from":"86400.000000000","to":"172800.000000000"},` +
			`"staking_period_duration":1440,"staking_periods_stored":365,` +
			`"staking_reward_fee_fraction":0.33333334,"staking_reward_rate":100,` +
			`"staking_start_threshold":200,"unreserved_staking_reward_balance":50}`,
		"/stake?foo=1&timestamp=x": "",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			checkNetwork(t, g, path, want)
		})
	}
}

// noFeesYet is the response if the current rates have no cents.
const noFeesYet = `{"fees":[],"timestamp":"1000000001.600000000"}`

// checkNetwork compares a response. The expected body determines its status and type. If want is empty, any body is
// accepted.
func checkNetwork(t *testing.T, g *testenv.Gateway, path, want string) {
	t.Helper()
	got := g.Get(t, "/api/v1/network"+path)
	status, contentType := http.StatusOK, "application/json;charset=UTF-8"
	switch {
	case strings.Contains(want, `"Not Found"`):
		status = http.StatusNotFound
	case strings.HasPrefix(want, `{"_status"`):
		status = http.StatusBadRequest
	case want != "" && want[0] != '{':
		contentType = "text/plain;charset=UTF-8"
	}
	if got.Status != status || want != "" && got.Body != want {
		t.Errorf("status %d, %s\nwant %d, %s", got.Status, got.Body, status, want)
	}
	if got.Header.Get("Content-Type") != contentType || got.Header.Get("Cache-Control") != "public, max-age=60" {
		t.Errorf("Content-Type %q, Cache-Control %q", got.Header.Get("Content-Type"), got.Header.Get("Cache-Control"))
	}
}

func TestNetworkNodes(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, networkRows.Shared(t))
	const (
		stakeless = `"reward_rate_start":null,"service_endpoints":[],"stake":null,"stake_not_rewarded":null,` +
			`"stake_rewarded":null,"staking_period":null,"timestamp":{"from":"0.000000020","to":null}}`
		ten = `{"admin_key":null,"associated_registered_nodes":[7,1],"decline_reward":true,` +
			`"description":"ten","file_id":"0.0.102","grpc_proxy_endpoint":{"domain_name":"",` +
			`"ip_address_v4":"1.2.3.4","port":80},"max_stake":5000,"memo":"m","min_stake":10,` +
			`"node_account_id":"0.0.1003","node_cert_hash":"0x01d1","node_id":10,"public_key":"0x4a5a",` +
			`"reward_rate_start":6,"service_endpoints":[{"domain_name":"n.example","ip_address_v4":"",` +
			`"port":443},{"domain_name":"","ip_address_v4":"127.0.0.1","port":50211},` +
			`{"domain_name":"","ip_address_v4":"127.0.0.1","port":50212},{"domain_name":"",` +
			`"ip_address_v4":"127.0.0.2","port":1}],"stake":13,"stake_not_rewarded":8,` +
			`"stake_rewarded":5,"staking_period":{"from":"86400.000000000",` +
			`"to":"172800.000000000"},"timestamp":{"from":"0.000000020","to":null}}`
		eleven = `{"admin_key":null,"associated_registered_nodes":[],"decline_reward":null,"description":null,` +
			`"file_id":"0.0.102","grpc_proxy_endpoint":null,"max_stake":null,"memo":null,"min_stake":null,` +
			`"node_account_id":"0.0.4","node_cert_hash":"0x","node_id":11,"public_key":"0x4a",` +
			`"reward_rate_start":0,"service_endpoints":[],"stake":0,"stake_not_rewarded":null,` +
			`"stake_rewarded":0,"staking_period":{"from":"86400.000000000","to":"172800.000000000"},` +
			`"timestamp":{"from":"0.000000020","to":null}}`
		twelve = `{"admin_key":null,"associated_registered_nodes":[],"decline_reward":null,"description":"x",` +
			`"file_id":"0.0.102","grpc_proxy_endpoint":null,"max_stake":null,"memo":"m","min_stake":null,` +
			`"node_account_id":"0.0.5","node_cert_hash":"0x","node_id":12,"public_key":"0x",` + stakeless
		thirteen = `{"admin_key":{` +
			`"_type":"ED25519","key":"abababababababababababababababababababababababababababababababab"},` +
			`"associated_registered_nodes":[],"decline_reward":false,"description":"x","file_id":"0.0.102",` +
			`"grpc_proxy_endpoint":null,"max_stake":null,"memo":"m","min_stake":null,` +
			`"node_account_id":"0.0.6","node_cert_hash":"0x","node_id":13,"public_key":"0x",` + stakeless
	)
	page := func(next string, nodes ...string) string {
		if next != "null" {
			next = `"/api/v1/network/nodes?` + next + `"`
		}
		return `{"nodes":[` + strings.Join(nodes, ",") + `],"links":{"next":` + next + `}}`
	}
	range400 := badRequestBody("Invalid range provided for node.id")
	for query, want := range map[string]string{
		"node.id=lte:13":                             page("null", ten, eleven, twelve, thirteen),
		"node.id=lte:11&order=DESC":                  page("null", eleven, ten),
		"node.id=lte:11&node.id=ne:10&node.id=gte:1": page("null", ten, eleven), // ne is ignored
		"node.id=12&node.id=eq:11&node.id=99":        page("null", eleven, twelve),
		"node.id=10&node.id=11&node.id=gt:10":        page("null", eleven),
		"node.id=10&node.id=gt:10":                   page("null"),
		"file.id=0.0.999":                            page("null"),
		"file.id=eq:0.102&limit=1":                   page("file.id=eq:0.102&limit=1&node.id=gt:10", ten),
		"limit=2&unknown=1":                          page("limit=2&unknown=1&node.id=gt:11", ten, eleven),
		"node.id=gte:10&limit=3":                     page("limit=3&node.id=gt:12", ten, eleven, twelve),
		"node.id=lt:20&node.id=gte:10&limit=3": page("node.id=lt:20&node.id=gt:12&limit=3", ten,
			eleven, twelve),
		"node.id=gte:10&node.id=lte:12&limit=3&order=desc": page("null", twelve, eleven, ten),
		"node.id=12&limit=1":             page("node.id=12&limit=1", twelve),
		"node.id=lte:13&limit=4":         page("null", ten, eleven, twelve, thirteen),
		"node.id=gt:9223372036854775807": page("null"),
		"node.id=lt:0":                   page("null"),
		"node.id=":                       "",
		"limit=2147483647":               "",

		"order=up&limit=0&file.id=x&node.id=x":  invalidBody("file.id", "node.id", "order", "limit"),
		"limit=0":                               invalidBody("limit"),
		"limit=-1&node.id=-1":                   invalidBody("node.id", "limit"),
		"node.id=1,2":                           invalidBody("node.id"),
		"node.id=gt:1:2":                        invalidBody("node.id"),
		"node.id=9223372036854775808":           invalidBody("node.id"),
		"file.id=gt:102":                        badRequestBody("Only equality operator is supported for file.id"),
		"file.id=102&file.id=101&limit=x":       badRequestBody("Only a single instance is supported for file.id"),
		"limit=1&limit=2":                       badRequestBody("Only a single instance is supported for limit"),
		"order=asc&order=asc":                   badRequestBody("Only a single instance is supported for order"),
		"node.id=gt:1&node.id=lt:2":             range400,
		"node.id=gte:2&node.id=lte:1&node.id=5": range400,
		"node.id=gt:9223372036854775807&node.id=lte:9223372036854775807": range400,
		"node.id=gte:9223372036854775807&node.id=lt:999999":              range400,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			checkNetwork(t, g, "/nodes?"+query, want)
		})
	}
	if got := g.Get(t, "/api/v1/network/nodes?file.id=101").Body; !strings.Contains(got,
		`"description":"brief","file_id":"0.0.101"`) {
		t.Errorf("the other book's nodes are %s", got)
	}
}

// TestNetworkNodesPageSizes checks that a page has ten nodes by default and at most 25.
func TestNetworkNodesPageSizes(t *testing.T) {
	t.Parallel()
	url := networkRows.Fresh(t)
	testenv.Exec(t, url,
		`insert into address_book_entry (consensus_timestamp, public_key, node_id, node_account_id) select 20, '', `+
			`i, i from generate_series(15, 60) i`)
	g := testenv.Over(t, url)
	for query, want := range map[string]int{
		"": 10, "?limit=11": 11, "?limit=25": 25, "?limit=26": 25,
		"?limit=1000": 25,
	} {
		got := g.Get(t, "/api/v1/network/nodes"+query)
		if n := strings.Count(got.Body, `"node_id"`); n != want || got.Header.Get("Link") == "" {
			t.Errorf("%q has %d nodes, want %d; Link is %q", query, n, want, got.Header.Get("Link"))
		}
	}
}

func TestRegisteredNodes(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, networkRows.Shared(t))
	endpoint := func(block, domain, general, ip, mirror string, port int, tls bool, relay, typ string) string {
		return fmt.Sprintf(`{"block_node":%s,"domain_name":%s,"general_service":%s,"ip_address":%s,`+
			`"mirror_node":%s,"port":%d,"requires_tls":%v,"rpc_relay":%s,"type":%q}`,
			block, domain, general, ip, mirror, port, tls, relay, typ)
	}
	const no = "null"
	zero := `{"admin_key":null,"created_timestamp":null,"description":null,"registered_node_id":0,` +
		`"service_endpoints":[],"timestamp":{"from":"0.000000008","to":null}}`
	one := `{"admin_key":{"_type":"ProtobufEncoded","key":"0102"},"created_timestamp":"0.000000009",` +
		`"description":"one","registered_node_id":1,"service_endpoints":[` + strings.Join([]string{
		endpoint(`{"endpoint_apis":["STATUS","UNRECOGNIZED"]}`, `"b.example"`, no, no, no, 1, true, no, "BLOCK_NODE"),
		endpoint(no, no, `{"description":"g"}`, `"1.2.3.4"`, no, 2, false, no, "GENERAL_SERVICE"),
		endpoint(no, no, `{"description":null}`, no, no, 3, false, no, "GENERAL_SERVICE"),
		endpoint(no, no, no, no, "{}", 4, false, no, "MIRROR_NODE"),
		endpoint(no, no, no, no, no, 5, false, "{}", "RPC_RELAY"),
		endpoint(no, no, no, no, no, 6, false, no, "GENERAL_SERVICE"),
		endpoint(`{"endpoint_apis":[]}`, no, no, no, "{}", 7, false, no, "BLOCK_NODE"),
	}, ",") + `],"timestamp":{"from":"0.000000009","to":null}}`
	three := `{"admin_key":null,"created_timestamp":"0.000000009","description":"three","registered_node_id":3,` +
		`"service_endpoints":[],"timestamp":{"from":"0.000000009","to":null}}`
	page := func(next string, nodes ...string) string {
		if next != "null" {
			next = `"/api/v1/network/registered-nodes?` + next + `"`
		}
		return `{"registered_nodes":[` + strings.Join(nodes, ",") + `],"links":{"next":` + next + `}}`
	}
	const (
		mixed    = "The 'eq' operator cannot be combined with other operators"
		backward = "Invalid range: lower bound exceeds upper bound"
	)
	for query, want := range map[string]string{
		"":                               page("null", zero, one, three),
		"order=DESC":                     page("null", three, one, zero),
		"limit=1":                        page("limit=1&registerednode.id=gt:0", zero),
		"limit=100&type=":                page("null", zero, one, three),
		"type=block_node":                page("null", one),
		"type=General-Service&limit=1":   page("type=General-Service&limit=1&registerednode.id=gt:1", one),
		"type=RPCRELAY":                  page("null", three),
		"type=MIRROR_NODE":               page("null"),
		"type=UNKNOWN":                   page("null"),
		"registerednode.id=2":            page("null"),
		"registerednode.id=eq:3&limit=1": page("registerednode.id=eq:3&limit=1", three),
		"registerednode.id=gt:0&registerednode.id=LTE:3": page("null", one, three),
		"registerednode.id=gt:0&registerednode.id=gte:3": page("null", three),
		"registerednode.id=lt:3&limit=2&order=desc":      page("limit=2&order=desc&registerednode.id=lt:0", one, zero),
		"limit=101": invalidBody("limit"),
		"limit=0":   invalidBody("limit"),
		"limit=x&order=x&registerednode.id=x&type=x": invalidBody("limit", "order",
			"registerednode.id", "type"),
		"limit=0&registerednode.id=1&registerednode.id=2&registerednode.id=3&type=x": invalidBody("type", "limit",
			"registerednode.id"),
		"registerednode.id=ne:1":                        invalidBody("registerednode.id"),
		"registerednode.id=gt:gt:1":                     invalidBody("registerednode.id"),
		"registerednode.id=9223372036854775808":         invalidBody("registerednode.id"),
		"registerednode.id=-1":                          invalidBody("registerednode.id"),
		"registerednode.id=1,2":                         invalidBody("registerednode.id"),
		"registerednode.id=1&registerednode.id=gt:0":    badRequestBody(mixed),
		"registerednode.id=1&registerednode.id=1":       badRequestBody(mixed),
		"registerednode.id=gt:2&registerednode.id=lt:3": badRequestBody(backward),
		"type=BLOCK_NODE&type=BLOCK_NODE":               badRequestBody("Only a single instance is supported for type"),
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			checkNetwork(t, g, "/registered-nodes?"+query, want)
		})
	}
}

// TestFileAttempts checks how many broken versions of a file are skipped, appended parts included.
func TestFileAttempts(t *testing.T) {
	t.Parallel()
	url := testenv.Empty.Fresh(t)
	testenv.Exec(t, url,
		`insert into file_data (entity_id, consensus_timestamp, file_data, transaction_type) values (112, 1, `+
			`'\x0a00', 17)`,
		// Three broken versions of one, two and four parts, with an empty update among them.
		`insert into file_data (entity_id, consensus_timestamp, file_data, transaction_type)
select 112, i, case when i = 6 then '\x'::bytea else '\x0f'::bytea end, case when i in (2, 3, 5, 6) then 19 else 16 end from generate_series(2, 9) i`)
	const found, missing = `{"current_rate":{"cent_equivalent":0,"expiration_time":null,"hbar_equivalent":0},` +
		`"next_rate":null,"timestamp":"0.000000001"}`, "File 0.0.112 not found"
	for attempts, want := range map[int]string{
		8: found, 7: notFoundBody(missing), 1: notFoundBody(missing),
		0: found,
	} {
		g := testenv.Over(t, url, func(o *testenv.Options) { o.Storage.FileAttempts = attempts })
		if got := g.Get(t, "/api/v1/network/exchangerate").Body; got != want {
			t.Errorf("with %d attempts: %s, want %s", attempts, got, want)
		}
	}
}

// TestNetworkOfEmptyDatabase queries an empty database.
func TestNetworkOfEmptyDatabase(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, testenv.Empty.Shared(t))
	for path, want := range map[string]string{
		"/supply": notFoundBody("Network supply not found"), "/exchangerate": notFoundBody("File 0.0.112 not found"),
		"/fees":  notFoundBody("File 0.0.113 not found"),
		"/stake": notFoundBody("No network stake data found"), "/nodes": `{"nodes":[],"links":{"next":null}}`,
		"/registered-nodes": `{"registered_nodes":[],"links":{"next":null}}`,
	} {
		checkNetwork(t, g, path, want)
		if got := g.Do(t, http.MethodDelete, "/api/v1/network"+path, ""); got.Status != http.StatusMethodNotAllowed {
			t.Errorf("DELETE %s: status %d", path, got.Status)
		}
	}
}

// TestSupplyText checks that the text response has its own ETag.
func TestSupplyText(t *testing.T) {
	t.Parallel()
	g := testenv.Over(t, networkRows.Shared(t))
	const path = "/api/v1/network/supply?q=circulating"
	first := g.Get(t, path)
	tag := first.Header.Get("ETag")
	if again := g.Do(t, http.MethodGet, path, "", "If-None-Match: "+tag); tag == "" ||
		again.Status != http.StatusNotModified || again.Body != "" {
		t.Errorf("with the tag %q: %d %s", tag, again.Status, again.Body)
	}
}
