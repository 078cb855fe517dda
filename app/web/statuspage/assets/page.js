// What the status page does where JavaScript is on: it shows changes when they happen, times of the reader's own zone, and what the bars mean. Everything is there without it too.
"use strict";

const content = () => document.getElementById("content");
const revision = () => Number(content().dataset.revision);

// Times carry the reader's own time as a hint.
function localTimes(root) {
  for (const t of root.querySelectorAll("time")) {
    t.title = new Date(t.dateTime).toLocaleString(undefined, { dateStyle: "full", timeStyle: "short" });
  }
}

// Hints of the bars appear at once, in place of the browser's own, which are slow and not there on touch screens.
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

// fetchPage gets this page anew, and shows it when it is of a revision that is new enough; it tells whether it was.
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

// show puts a newer page in place of this one. Groups that the reader has closed stay so, and so does the place of the keyboard.
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

// The gateway that answers may hear of a write a moment later than the one that told of it.
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
        // it is tried again
      }
      await new Promise((done) => setTimeout(done, wait));
    }
    catching = null;
  })();
}

// While nobody tells of changes, the page looks for them itself.
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

// Only pages that somebody sees listen: browsers allow few connections to one host, and all tabs share them.
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
  // What the gateway ends, or cannot begin, is begun again where this page is then: later each time, unless it had gone on for a while.
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

// In a frame, the page around it wants to know how high the banner is, and whether it has anything to say.
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
