// The plan of the last query. It is requested while the panel is open.

/**
 * @typedef {{ field: string, level: number, roundTrip: number, start: number, milliseconds: number, rows: number, server?: number, scans?: { table: string, index: string }[] }} Statement
 * @typedef {{ milliseconds: number, queue: number, waiting: number, levels: number, roundTrips: number, cacheHits: number, bytes: number, omitted?: number, statements: Statement[] }} Plan
 */

/** @type {Plan | null | undefined} Null if the response has none; undefined before the first response. */
let plan;
let panels = 0;
const listeners = new Set();

export const subscribe = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const current = () => plan;

/** Requests plans until the returned function is called. */
export function requestPlans() {
  panels++;
  return () => {
    panels--;
  };
}

/** @returns {Record<string, string>} The headers that request a plan, if the panel is open. */
export const planHeaders = () => (panels > 0 ? { 'x-query-plan': 'on' } : {});

/** @param {ArrayBuffer} body The body of a response. */
export function keepPlan(body) {
  if (panels === 0) {
    return;
  }
  try {
    plan = JSON.parse(new TextDecoder().decode(body)).extensions?.plan ?? null;
  } catch {
    plan = null; // a response in several parts
  }
  listeners.forEach((listener) => listener());
}
