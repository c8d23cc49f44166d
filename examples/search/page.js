"use strict";

// The days that are over, again and again; a page that nobody sees asks for nothing.
const days = async () => {
  try {
    const answer = document.hidden ? null : await fetch("/days");
    if (answer && answer.ok) document.getElementById("days").innerHTML = await answer.text();
  } finally {
    setTimeout(days, 3000);
  }
};
days().catch(console.warn);

// A click on a title is an event of its impression. It counts when it is on the disk.
const list = document.getElementById("results");
if (list && list.dataset.query) list.addEventListener("click", async e => {
  const item = e.target.closest("li");
  if (!item || !e.target.matches("button")) return;
  const position = { ordinal: [...list.children].indexOf(item) + 1 };
  const click = { action_name: "click", query_id: list.dataset.query, event_attributes: { object: { object_id: item.dataset.id }, position } };
  try {
    const answer = await fetch("/events", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify([click]), keepalive: true });
    if (answer.ok) item.classList.add("clicked");
  } catch (error) {
    console.warn(error);
  }
});
