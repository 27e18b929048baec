// Follows a run's numbered log: over the socket, or by asking when sockets do not get through.
// After any break it asks for what comes after the last number it has seen.

const TRIES = 3; // failed sockets before it asks instead
const SILENCE_MS = 15_000; // the server says something at least every 5 s
const ASK_EVERY_MS = 1000;
const NO_ANSWER_MS = 3000;
const SOCKET_AGAIN_MS = 30_000;

const jitter = (wait) => wait * (0.7 + 0.6 * Math.random());

export class Follower {
  #last = 0;
  #failures = 0;
  #ended = false;
  #socket = null;
  #watch = 0;
  #pollingSince = 0;

  /** onPage gets every page once and in order; onState gets words for people. */
  constructor({ socketUrl, eventsUrl, onPage, onState }) {
    Object.assign(this, { socketUrl, eventsUrl, onPage, onState });
  }

  start() {
    this.onState("connecting");
    this.#connect();
  }

  #connect() {
    const socket = new WebSocket(this.socketUrl);
    this.#socket = socket;
    this.#expectNews();
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ after: this.#last }));
    });
    socket.addEventListener("message", (message) => {
      this.#failures = 0;
      this.#expectNews();
      if (!this.#take(JSON.parse(message.data))) socket.close();
    });
    socket.addEventListener("close", () => this.#closed());
  }

  #expectNews() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#socket.close(), SILENCE_MS);
  }

  #closed() {
    clearTimeout(this.#watch);
    if (this.#ended) return;
    this.#failures += 1;
    if (this.#failures >= TRIES) {
      this.#pollingSince = Date.now();
      this.#poll();
      return;
    }
    this.onState("reconnecting");
    setTimeout(() => this.#connect(), jitter(300 * 2 ** this.#failures));
  }

  /** False when an event is missing: then what follows must be asked for again. */
  #take(page) {
    const fresh = page.events.filter((event) => event.seq > this.#last);
    if (fresh.length && fresh[0].seq !== this.#last + 1) return false;
    if (fresh.length) this.#last = fresh[fresh.length - 1].seq;
    this.onPage({ ...page, events: fresh });
    this.#ended = page.is_ended;
    if (page.is_ended) this.onState("ended");
    else if (page.is_more) this.onState("catching up");
    else this.onState(this.#pollingSince ? "polling" : "live");
    return true;
  }

  async #poll() {
    let page = null;
    try {
      const answer = await fetch(`${this.eventsUrl}?after=${this.#last}`);
      if (answer.redirected) return this.onState("signed out");
      page = await answer.json();
      this.#take(page);
    } catch {
      this.onState("no answer");
      return this.#socketAgain(NO_ANSWER_MS);
    }
    if (this.#ended) return;
    if (Date.now() - this.#pollingSince > SOCKET_AGAIN_MS) return this.#socketAgain(0);
    setTimeout(() => this.#poll(), page.is_more ? 0 : jitter(ASK_EVERY_MS));
  }

  /** One try; when it fails as well, asking goes on. */
  #socketAgain(wait) {
    this.#pollingSince = 0;
    this.#failures = TRIES - 1;
    setTimeout(() => this.#connect(), jitter(wait));
  }
}
