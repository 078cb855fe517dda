// Runs the audits of the GraphQL over HTTP specification against HELIOGRAPH_URL. Fails unless all of them pass, both required and recommended ones.
import { auditServer } from 'graphql-http'

const expected = 61
const results = await auditServer({ url: `${process.env.HELIOGRAPH_URL}/graphql` })
const failed = results.filter((r) => r.status !== 'ok')
for (const r of failed) console.error(`${r.status} ${r.id}: ${r.name}: ${r.reason}`)
console.log(`${results.length - failed.length} of ${results.length} audits passed`)
if (results.length !== expected) console.error(`got ${results.length} audits, want ${expected}`)
process.exit(failed.length > 0 || results.length !== expected ? 1 : 0)
