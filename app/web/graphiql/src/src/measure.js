// Time, size, cost and pictures of the last response to a query or mutation.

import { picturesIn } from './pictures.js';
import { keepPlan, planHeaders } from './plan.js';

/** @typedef {{ ms: number, bytes: number, packed: number | null, cost: string | null, limit: string | null, pictures: string[] }} Measure */

let measure = null;
const listeners = new Set();

function change(value) {
  measure = value;
  listeners.forEach((listener) => listener());
}

export const subscribe = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
/** @returns {Measure | null} Null before the first response, and while a request is running. */
export const current = () => measure;

/** Like fetch, but also measures the response until its body is complete. */
export async function measuredFetch(url, options) {
  change(null);
  const start = performance.now();
  const response = await fetch(url, { ...options, headers: { ...options.headers, ...planHeaders() } });
  const { headers } = response;
  response
    .clone()
    .arrayBuffer()
    .then(
      (body) => {
        keepPlan(body);
        change({
          ms: performance.now() - start,
          bytes: body.byteLength,
          packed: headers.has('content-encoding') && headers.has('content-length') ? Number(headers.get('content-length')) : null,
          cost: headers.get('x-query-cost'),
          limit: headers.get('x-query-cost-limit'),
          pictures: picturesIn(body),
        });
      },
      () => {}, // The connection was closed: GraphiQL shows the error.
    );
  return response;
}
