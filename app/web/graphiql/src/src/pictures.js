import { fileURL } from './endpoints.js';

const MAX_PICTURES = 24;
const MAX_BYTES = 1_000_000; // of a response that is searched

// The page loads no pictures from other hosts. The others in a response are links in its text.
const isPicture = ({ url, mimeType }) =>
  typeof url === 'string' && typeof mimeType === 'string' && mimeType.startsWith('image/') && /^(\/hcs\/1\/[\d.]+$|data:image\/)/.test(url);

/**
 * Returns the pictures in a response that the gateway itself serves: the URLs of objects with the MIME type of an image.
 * @param {ArrayBuffer} body
 * @returns {string[]}
 */
export function picturesIn(body) {
  const found = new Set();
  if (body.byteLength > MAX_BYTES) {
    return [];
  }
  try {
    JSON.parse(new TextDecoder().decode(body), (_, value) => {
      if (value && isPicture(value)) {
        found.add(value.url.startsWith('/') ? fileURL(value.url) : value.url);
      }
      return value;
    });
  } catch {
    return []; // Parts of a deferred response, or another format.
  }
  return [...found].slice(0, MAX_PICTURES);
}
