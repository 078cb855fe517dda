// Reads the status page at HELIOGRAPH_URL with two clients, and compares their results with the documents. Both clients derive the host from a page ID, so the test
// changes the base URL of their HTTP clients.
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import statuspageJS from 'statuspage.js'
import statuspageIO from 'statuspage.io'

const home = process.env.HELIOGRAPH_URL
const documents = {}
for (const name of ['summary', 'status', 'components', 'incidents', 'incidents/unresolved', 'scheduled-maintenances', 'scheduled-maintenances/upcoming', 'scheduled-maintenances/active']) {
  const answer = await fetch(`${home}/api/v2/${name}.json`)
  assert.equal(answer.status, 200, name)
  documents[name] = await answer.json()
}
assert.equal(documents.incidents.incidents.length, 50)
assert.ok(documents['incidents/unresolved'].incidents.length >= 3)

const io = new statuspageIO.Statuspage('page')
io.apiClient.defaults.baseURL = home
const equal = (got, want, name) => assert.ok(isDeepStrictEqual(got, want), `${name}: wrong result`)
const same = async (name, given) => {
  equal(await given, documents[name], name)
  console.log(`${name}: ok`)
}
await same('summary', io.api.getSummary())
await same('status', io.api.getStatus())
await same('components', io.api.getComponents())
await same('incidents', io.api.incidents.getAll())
await same('incidents/unresolved', io.api.incidents.getUnresolved())
// This client always requests the upcoming maintenances.
await same('scheduled-maintenances/upcoming', io.api.scheduledMaintenances.getUpcoming())
await same('scheduled-maintenances/upcoming', io.api.scheduledMaintenances.getAll())
await same('scheduled-maintenances/upcoming', io.api.scheduledMaintenances.getActive())

// This client converts times to Date.
const js = new statuspageJS.Statuspage('page')
js.axios.defaults.baseURL = `${home}/api/v2`
// instants converts times and dates to milliseconds for the comparison.
const instants = (value) => JSON.parse(JSON.stringify(value), (_, v) => (typeof v === 'string' && /^\d{4}-\d\d-\d\d(T.*)?$/.test(v) ? new Date(v).getTime() : v))
const alike = async (name, given) => {
  const got = await given
  equal(instants(got), instants(documents[name]), name)
  console.log(`${name}: ok, with times`)
  return got
}
const summary = await alike('summary', js.summary())
assert.ok(summary.page.updated_at instanceof Date)
await alike('status', js.status())
await alike('components', js.components())
await alike('incidents', js.allIncidents())
await alike('incidents/unresolved', js.unresolvedIncidents())
await alike('scheduled-maintenances', js.allScheduledMaintenances())
await alike('scheduled-maintenances/upcoming', js.upcomingScheduledMaintenances())
await alike('scheduled-maintenances/active', js.activeScheduledMaintenances())

// Its poller sends a request when it is created, and compares the newest updates of two responses.
class Poller extends statuspageJS.StatuspageUpdates {
  async fetch() {
    this.statuspage.axios.defaults.baseURL = `${home}/api/v2`
    return super.fetch()
  }
}
const poller = new Poller('page', 60_000)
await poller.fetch()
await poller.fetch()
assert.equal(poller.curr.incidents.length, 50)
assert.equal(poller.checkUpdate(), false)
