// Optional script of the status page: live updates, times in the time zone of the reader, and tooltips of the uptime bars. The page works without it.
"use strict";

const content = () => document.getElementById("content");
const revision = () => Number(content().dataset.revision);

// localTimes adds tooltips with the local time of the reader.
function localTimes(root) {
  for (const t of root.querySelectorAll("time")) {
    t.title = new Date(t.dateTime).toLocaleString(undefined, { dateStyle: "full", timeStyle: "short" });
  }
}

// Tooltips of the bars appear immediately. Those of the browser are slow and missing on touch screens.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
const hints = new WeakMap();

function barHints(root) {
  for (const rect of root.querySelectorAll(".bars rect")) {
    hints.set(rect, rect.textContent);
    rect.replaceChildren();
  }
}

function showTip(event) {
  const text = hints.get(event.target);
  tip.hidden = !text;
  if (!text) {
    return;
  }
  tip.textContent = text;
  const bar = event.target.getBoundingClientRect();
  const left = Math.min(Math.max(8, bar.left + bar.width / 2 - tip.offsetWidth / 2), document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${bar.bottom + 8 + scrollY}px`;
}

// fetchPage reloads the page and shows it if it has at least the wanted revision. It reports whether it had.
async function fetchPage(wanted) {
  const answer = await fetch(location.href, { cache: "no-cache" });
  if (!answer.ok) {
    return false;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = fresh.getElementById("content");
  if (!next || Number(next.dataset.revision) < wanted) {
    return false;
  }
  if (next.innerHTML !== shown || Number(next.dataset.revision) !== revision()) {
    show(fresh, next);
  }
  return true;
}

let shown = content().innerHTML;

// show replaces the content with a newer page. It preserves closed groups and the keyboard focus.
function show(fresh, next) {
  const headline = document.getElementById("headline")?.textContent;
  const closed = new Set([...document.querySelectorAll("details:not([open])")].map((d) => d.dataset.key));
  const focused = document.activeElement?.getAttribute("href");
  const group = document.activeElement?.closest("details")?.dataset.key;
  const wasSummary = document.activeElement?.tagName === "SUMMARY";
  shown = next.innerHTML;
  const main = document.adoptNode(next);
  for (const d of main.querySelectorAll("details")) {
    d.open = !closed.has(d.dataset.key);
  }
  localTimes(main);
  barHints(main);
  tip.hidden = true;
  content().replaceWith(main);
  document.title = fresh.title;
  const icon = fresh.getElementById("icon");
  if (icon) {
    document.getElementById("icon")?.setAttribute("href", icon.getAttribute("href"));
  }
  if (wasSummary) {
    main.querySelector(`details[data-key="${CSS.escape(group)}"] > summary`)?.focus({ preventScroll: true });
  } else if (focused) {
    [...main.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }
  const now = document.getElementById("headline")?.textContent;
  const announce = document.getElementById("announce");
  if (announce) {
    announce.textContent = now && now !== headline ? `The status has changed: ${now}` : "The page has been updated.";
  }
  tellParent();
}

// catchUp retries until the page has the given revision: another gateway can respond that has not seen the write yet.
let catching = null;
let wanted = 0;
function catchUp(to) {
  wanted = Math.max(wanted, to);
  catching ??= (async () => {
    for (let wait = 100; wanted > revision() && wait < 30000; wait *= 2) {
      try {
        if (await fetchPage(wanted)) {
          continue;
        }
      } catch {
        // retried below
      }
      await new Promise((done) => setTimeout(done, wait));
    }
    catching = null;
  })();
}

// The page polls for changes while the event stream is not connected.
let polling = 0;
function poll(on) {
  clearInterval(polling);
  polling = on ? setInterval(() => fetchPage(0).catch(() => {}), 60000) : 0;
}

function live(on) {
  const sign = document.getElementById("live");
  if (sign) {
    sign.hidden = !on;
  }
  poll(!on);
}

// Only visible pages hold a connection: browsers limit the connections per host, and all tabs share them.
let events = null;
let retry = 0;
let patience = 2000;

function listen() {
  if (events || document.hidden) {
    return;
  }
  const began = Date.now();
  const mine = new EventSource(content().dataset.live);
  events = mine;
  mine.addEventListener("open", () => live(true));
  mine.addEventListener("next", (e) => {
    const change = JSON.parse(e.data).data?.statusChanged;
    if (change && Number(change.revision) > revision()) {
      catchUp(Number(change.revision));
    }
  });
  // Reconnects after the stream ends or fails, with exponential backoff. The delay is reset after a stream of more than 30 seconds.
  const again = () => {
    if (events !== mine) {
      return;
    }
    silence();
    live(false);
    patience = Date.now() - began > 30000 ? 2000 : Math.min(patience * 2, 60000);
    retry = setTimeout(listen, patience * (0.5 + Math.random()));
  };
  mine.addEventListener("complete", again);
  mine.addEventListener("error", again);
}

function silence() {
  clearTimeout(retry);
  events?.close();
  events = null;
}

function followVisibility() {
  silence();
  poll(false);
  if (!document.hidden) {
    fetchPage(0).catch(() => {});
    listen();
  }
}

// In a frame, tellParent sends the height of the banner to the parent page, and whether it has a message.
function tellParent() {
  if (document.documentElement.classList.contains("frame") && parent !== window) {
    parent.postMessage({ heliograph: "status", tells: content().dataset.tells === "yes", height: document.body.scrollHeight }, "*");
  }
}

localTimes(document);
barHints(document);
document.body.append(tip);
document.addEventListener("pointerover", showTip);
addEventListener("resize", tellParent);
tellParent();
if (content().dataset.live && "EventSource" in window) {
  listen();
  document.addEventListener("visibilitychange", followVisibility);
} else {
  poll(true);
}
