import { useEffect, useSyncExternalStore } from 'react';
import { PlanIcon } from './icons.jsx';
import { current, requestPlans, subscribe } from './plan.js';

const ms = (number) => `${number.toFixed(number < 10 ? 1 : 0)} ms`;
const several = (number, name) => `${number.toLocaleString('en-US')} ${name}${number === 1 ? '' : 's'}`;

function Chart({ plan }) {
  const { milliseconds, queue, waiting, levels, roundTrips, cacheHits, bytes, omitted = 0, statements } = plan;
  const slowest = statements.find(({ scans }) => scans);
  const share = (part) => `${(100 * part) / milliseconds}%`;
  return (
    <>
      <p className="heliograph-plan-sum">
        {ms(milliseconds)}: {ms(queue)} in the queue, {ms(waiting)} waiting for connections. {several(levels, 'level')}, {several(roundTrips, 'round trip')},{' '}
        {several(statements.length + omitted, 'statement')}, {several(cacheHits, 'cache hit')}, {several(bytes, 'byte')}.
      </p>
      <table>
        <caption>Statements over time</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Level</th>
            <th scope="col">Rows</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        {statements.map((s, i) => (
          <tbody key={i}>
            <tr>
              <th scope="row">{s.field}</th>
              <td>{s.level}</td>
              <td>{s.rows}</td>
              <td>{ms(s.milliseconds)}</td>
            </tr>
            <tr aria-hidden="true">
              <td colSpan="4">
                <div className={s === slowest ? 'heliograph-plan-slowest' : ''} style={{ marginLeft: share(s.start), width: share(s.milliseconds) }} />
              </td>
            </tr>
          </tbody>
        ))}
      </table>
      {slowest && (
        <>
          <h3>
            Slowest: {slowest.field} ({ms(slowest.server)} of PostgreSQL)
          </h3>
          <ul>
            {slowest.scans.map(({ table, index }) => (
              <li key={`${table} ${index}`}>
                {table && <code>{table}: </code>}
                {index ? <code>{index}</code> : 'no index'}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function PlanPanel() {
  const plan = useSyncExternalStore(subscribe, current);
  useEffect(requestPlans, []);
  return (
    <section className="heliograph-plan" aria-label="Query plan" tabIndex={0}>
      <h2>Query plan</h2>
      {plan === undefined && <p>Run a query while this panel is open.</p>}
      {plan === null && <p>The response has no plan. Errors, subscriptions and responses in parts have none, and an operator allows plans with --query-plans.</p>}
      {plan && <Chart plan={plan} />}
    </section>
  );
}

/** The plugin with the plan of the last query. */
export const PLAN_PLUGIN = { title: 'Query plan', icon: PlanIcon, content: PlanPanel };
