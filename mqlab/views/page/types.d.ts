// What flows between the scripts of this folder. `tsc` alone reads it (jsconfig.json); it is in no page and no wheel.

// --- What BokehJS and host.js bring; Bokeh's own types are not looked at.
declare const root: { document: BokehDocument | null; tags: string[] };
declare const TEXTS: Record<string, string>; // words.toml
declare const Bokeh: {
  version: string;
  documents: BokehDocument[];
  embed: { embed_item(item: object, place: HTMLElement): Promise<unknown> };
  index: { find_one?(model: object): any };
  Models?: { has?(name: string): boolean; get?(name: string): any };
};
interface BokehDocument {
  get_model_by_name(name: string): any;
  roots(): { id: string }[];
  clear(): void;
  config?: { notifications?: object };
  views_manager?: { get(model: object): any; delete(view: object): void };
  mqlab?: Shared;
}
interface Window {
  Bokeh?: typeof Bokeh; __mqlabBokeh?: Promise<void>; __mqlabTemplates?: Record<string, string>;
}
interface HTMLElement { mqlab?: { document: BokehDocument } }
interface Range { start: number; end: number; setv(values: { start: number; end: number }): void }
interface Figure { x_range: Range; y_range: Range; setv(values: object): void }
interface Source {
  data: Record<string, any[]>;
  get_length(): number | null;
  properties: { data: { change: { connect(f: () => void): void } } };
}

type Pen = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;
type Ask = (kind: string, data?: object) => Promise<any>;
interface Shared { ask?: Ask | null; memory?: Memory; player?: Player }
// What outlives a document that is replaced by another.
interface Memory {
  ms?: number | null; selection?: Selected | null; focused?: string | null; mode?: string; open?: string | null; lost?: boolean;
  [kept: string]: unknown;
}

// --- The columns of a scene: tables and names as in SHAPES of views/scene.py (tests/views/test_scripts.py holds it).
type Boxes = { x: number[]; y: number[]; w: number[]; h: number[] };
type Curves = { x0: number[]; y0: number[]; cx: number[]; cy: number[]; x1: number[]; y1: number[] };
interface Tables {
  brokers: Boxes & { node: number[]; name: string[]; role: string[]; store: number[] };
  clients: Boxes & { node: number[]; name: string[]; role: string[]; mouth: string[] };
  consumers: {
    node: number[]; name: string[]; card: number[]; row: number[]; prefetch: number[]; priority: number[];
    exclusive: boolean[]; chips: string[];
  };
  stores: Boxes & { name: string[]; kind: string[] };
  hosts: Boxes & { name: string[] };
  links: Curves & {
    name: string[]; kind: string[]; a: number[]; b: number[]; both: boolean[]; count: number[]; under: number[];
    chips: string[];
  };
  groups: Boxes & { node: number[]; name: string[]; count: number[] };
  members: { node: number[]; group: number[] };
  wires: Curves & { kind: string[]; frm: number[]; to: number[] };
  labels: Boxes & { text: string[]; kind: string[]; link: number[] };
  bridges: { link: number[]; back: boolean[] };
  limits: { node: number[]; dest: number[]; bytes: number[]; size: number[] };
  ways: Curves & { from: number[]; to: number[]; frm: number[]; to_node: number[] };
  plan: { width: number[]; height: number[]; size: string[]; pipe: number[]; mark: number[]; open: number[]; hidden: number[]; shared: number[] };
  flights: { t0: number[]; took: number[]; way: number[]; look: number[]; msg: number[]; flags: number[] };
  looks: { token: string[]; shape: string[]; kind: string[]; name: string[] };
  plans: { text: string[] };
  traffic: { count: number[] };
  stuck: { t: number[]; node: number[]; dest: number[]; count: number[]; why: string[] };
  destinations: { name: string[]; look: number[] };
  changes: { t: number[]; what: number[]; a: number[]; b: number[]; c: number[]; d: number[] };
  roles: { word: string[]; kind: string[] };
  depths: { t: number[]; node: number[]; value: number[] };
  received: { t: number[]; node: number[]; value: number[] };
  events: {
    play: number[]; time: string[]; what: string[]; row: number[]; kind: string[]; msg: number[]; broker: string[];
    frm: string[]; to: string[]; link: string[]; dest: string[]; rule: number[]; cause: number[]; chapter: string[];
  };
  rules: { sentence: string[]; source: string[] };
  folds: { x0: number[]; x1: number[]; text: string[]; told: string[] };
  counted: { t: number[]; line: number[]; step: number[] };
  counter_steps: {
    a: number[];
    b: number[];
    c: number[];
    d: number[];
    e: number[];
    f: number[];
    g: number[];
  };
  counter_lines: { broker: string[]; destination: string[] };
  counter_names: { name: string[]; hint: string[] };
  clock: { play: number[]; t: number[] };
  lanes: { track: string[]; name: string[] };
  steps: { t: number[]; lane: number[]; value: number[] };
  spans: { t0: number[]; t1: number[]; lane: number[]; text: string[] };
  nodes: { name: string[]; role: string[]; home: string[] };
  meta: { title: string[]; duration: number[]; events: number[]; beat: number[]; unit: number[]; mark: number[]; undone: string[] };
  about: { product: string[]; guide: string[]; part: boolean[] };
  window: {
    from: number[]; to: number[]; low: number[]; high: number[]; told: string[]; level: string[]; live: string[];
    no: number[];
  };
  rates: { t: number[]; sent: number[]; received: number[] };
  whole: { t: number[]; sent: number[]; received: number[] };
  wish: { from: number[]; to: number[]; msg: number[]; no: number[] };
}
// One row of a table: each column's value.
type Row<T> = { [C in keyof T]: T[C] extends (infer V)[] ? V : never };
// One layout of a network: tables that stand still, each in a room of its own.
type Plan = Pick<Tables, "plan" | "brokers" | "clients" | "stores" | "hosts" | "labels" | "links" | "wires" | "ways" | "groups">;
type Frame = { left: number; right: number; top: number; bottom: number };
type UsedPlan = Plan & { used: Frame };

// --- The state of a run at a moment (model.js). Brokers, clients and consumers by node, bridges by number.
type Held = number | number[] | null; // who has a message: a consumer, ~bridge, of a topic all who do, or nobody
interface Vote { yes: number; needed: number; won: boolean; since: number; asked: { node: number; said: number }[] }
interface Wait { ms: number; since: number; lock: boolean }
interface BrokerState {
  condition: string; role: number; lock: boolean; since: number; queues: Map<number, Map<number, Held>>; wait: Wait | null;
  depth: number; subs: Map<number, { dest: number; to: number }>; vote: Vote | null; tries?: Map<number, number>; met?: boolean;
}
interface ClientState {
  at: number; since: number; sent: number; tries: Map<number, number>; wait: Wait | null; met: boolean;
  held: { msg: number; at: number } | null;
}
interface WindowMessage { dest: number; working: boolean; since?: number; flags?: number }
interface ConsumerState { window: Map<number, WindowMessage>; got: number; left: boolean }
interface BridgeState { up: boolean; known: boolean; passed: number; subscriptions: Map<number, number> }
interface RunState {
  next: number; brokers: Map<number, BrokerState>; clients: Map<number, ClientState>;
  consumers: Map<number, ConsumerState>; bridges: Map<number, BridgeState>; cuts: Map<string, [number, number]>;
}
type Change = (s: RunState, p: Panel, a: number, b: number, c: number, d: number, t: number) => void;

// --- One run on the stage (bus.js makes it, each part adds what it keeps).
interface Mark { x: number; y: number; look: number; flags: number; count: number; msg: number; way: number }
interface Bursts { head: Int32Array; size: Int32Array; chain: Int32Array; order: Int32Array; count: number }
interface Panel {
  end: string;
  source(name: "stage"): Figure | null;
  source(name: string): Source | null;
  data<K extends keyof Tables>(name: K): Tables[K];
  data(name: `draw ${string}`): Record<string, any[]>;
  glyph(name: string): any;
  // model.js
  groupOf?: Map<number, number>; brokerOf?: Map<number, number>; clientOf?: Map<number, number>; cardOf?: Map<number, number>;
  paths?: Map<number, [number[], number[]]>; state?: RunState; snapshots?: RunState[]; isTopic?: boolean[];
  queuesOf?: Map<number, Set<number>>; turns?: Map<string, { rows: number[]; to: number[] }>;
  // stage.js
  plans?: UsedPlan[] | null; laid?: UsedPlan | null; waits?: boolean; locks?: boolean; later?: ReturnType<typeof setTimeout> | null;
  drawn?: { next: number; unit: number; at: number; t: number } | null;
  // moving.js
  flights?: Tables["flights"]; ways?: Tables["ways"]; bursts?: Bursts; longest?: number; sprites?: Map<string, ImageBitmap>;
  looks?: Pick<Tables["looks"], "token" | "shape" | "kind"> & { name?: string[] }; size?: number; marks?: Mark[];
  under?: { total: number; marks: number; k: number }; canvas?: HTMLCanvasElement;
  xy?(x: number, y: number): [number, number] | null;
  unit?(): number;
  hit?(px: number, py: number): Mark | null;
  // apart.js, groups.js, palette.js
  elsewhere?: Set<number>; gotThere?: Map<string, number> | null; heading?: HTMLElement;
  groupButtons?: Map<string, HTMLElement>; groupPlace?: HTMLElement; tabWide?: number;
  palette?: number; walk?: () => void; ghost?: { clear(): void; show(from: Selected, to: Selected | null, event: MouseEvent): void };
}

// --- The player (bus.js), and who is told what.
interface Selected { kind: string; name?: string; node?: number; msg?: number; row?: number; from?: string; to?: string }
interface Place { x: number; y: number }
interface At extends Place { px: number; py: number; room: DOMRect } // x and y in units of the stage
interface Told {
  ready: []; end: []; load: []; time: [t: number, row: number]; play: [on: boolean]; select: [selection: Selected | null];
  theme: [dark: boolean]; size: [width: number]; kernel: []; window: []; tracks: []; places: []; groups: []; loop: [];
  breaks: []; breakpoints: []; escape: []; difference: []; undo: []; redo: []; speed: [direction: number]; tab: [id: string];
  part: [name: string | null]; projector: [on: boolean]; lab: [state: LabState | null]; busy: [busy: string, error: string];
  break: [at?: Place]; fork: [at?: Place]; connect: [ends: { from: string; to: string; duplex: boolean }];
}
interface Player {
  panels: Panel[]; t: number; row: number; duration: number; playing: boolean; selection: Selected | null; unseen: boolean;
  on<K extends keyof Told>(name: K, f: (...values: Told[K]) => unknown): void;
  emit<K extends keyof Told>(name: K, ...values: Told[K]): void;
  select(selection: Selected | null): void;
  readonly kernel: boolean;
  readonly element: HTMLElement | null;
  ask: Ask;
  place(name: string): ShadowRoot;
  // clock.js
  exact?: boolean; runTime?(panel: Panel, t: number): number; storyTime?(ms: number): number; seek?(t: number): void;
  setPlaying?(on: boolean): void; goTo?(row: number): void; said?(row: number): string;
  // tokens.js, model.js, fit.js, moving.js, places.js, breaks.js, keys.js, lab.js, player.js, vector.js
  dark?: boolean; colour?(token: string | null): string; stateOf?(p: Panel, t: number): RunState;
  room?(): { width: number; height: number } | null; moving?: { most: number };
  put?(p: Panel, table: Movable, name: string, x: number, y: number): void;
  addBreak?(kind: string, value: unknown): void; projector?: boolean; building?: boolean; begun?: boolean; svg?(): string;
}
type Movable = "brokers" | "clients" | "stores";

// --- Rows for the figure's glyphs (ink.js).
type GlyphName = keyof typeof GLYPHS;
type GlyphRow<K extends GlyphName> = { [C in keyof (typeof GLYPHS)[K]]?: unknown };
type Token = string | null; // a name of TOKENS, or a colour
type BoxRow = { fill?: Token; edge?: Token; dash?: string; width?: number; hatch?: string; hatched?: Token };
interface Ink {
  unit: number;
  columns: { [K in GlyphName]: Record<string, any[]> };
  put<K extends GlyphName>(name: K, row: GlyphRow<K>): void;
  colour(token: Token): string;
  wide(text: string, size: number, bold?: boolean): number;
  fitted(text: string, room: number, size: number, bold?: boolean): string;
  line(width: number): number;
  say(x: number, y: number, text: string, size: number,
      look?: { token?: string; bold?: boolean; align?: "left" | "center" | "right"; room?: number }): number;
  name(x: number, y: number, text: string, size: number, room: number, token?: string): number;
  box(name: GlyphName, x: number, y: number, w: number, h: number, row: BoxRow): void;
  bar(x: number, y: number, w: number, h: number, token: Token): void;
  dot(x: number, y: number, size: number, marker: string, fill: Token, edge: Token, width?: number, dash?: string): void;
  path(xs: number[], ys: number[], token: Token, w?: number, dash?: string): void;
  ring(x: number, y: number, r0: number, r1: number, share: number, token: Token): void;
}

type Letters = { token?: string; size?: number; weight?: number; align?: CanvasTextAlign };

// --- Cards (cards.js, clients.js).
type Queue = [dest: number, held: Map<number, Held>];
interface Role { word: string; kind: string }
interface CardSize { cell?: number[]; gap?: number; numbers?: number; [more: string]: any }
interface BrokerShape { x: number; y: number; w: number; h: number; name: string; node: number }
interface ClientShape { x: number; y: number; w: number; h: number; mouth: string; name?: string; node?: number; px?: number; py?: number }
interface ShownConsumer { node: number; name: string; prefetch: number; chips: string }
type BrokerDrawing = (
  p: Panel, ink: Ink, shape: BrokerShape, state: BrokerState | undefined, role: Role, queues: Queue[], t: number) => void;
type ClientDrawing = (
  p: Panel, ink: Ink, shape: ClientShape, client: ClientState | undefined, consumers: ShownConsumer[], s: RunState,
  t: number) => void;

// --- The session behind the picture, as the kernel tells it (workbench), and lab.js.
interface Asked { add: string; on?: string; [more: string]: any } // of the desk: a new part
interface LabPart { kind: string; name: string; home?: string; [more: string]: any }
interface Lab {
  state: LabState | null; doing: number; mode: string; busy: string; error: string; asked: number; menu?: HTMLElement | null;
  ask?: Ask; do?: Ask; now?(): number; part?(): Selected | null; setMode?(mode: string): void; other?(): number | null;
  say?(busy: string, error?: string): void; breakIt?(at?: Place, from?: HTMLElement | null): Promise<void>;
}
// A fault of the run that is shown, and how the run ends with it at another moment (workbench/moving.py).
interface MovableFault { action: number; text: string; ms: number; mends: boolean }
interface FaultOutcome { ms: number; text: string; lost: number; twice: number; error: boolean }
interface Holding {
  fault: MovableFault | null; ms: number; strip: FaultOutcome[]; asked: number; busy: boolean; told: FaultOutcome | null;
}
interface LabState {
  product: string; own: string; parts: LabPart[]; branches: { parent: number | null; [more: string]: any }[]; current: number;
  beside?: number | null; sides?: number[]; [more: string]: any;
}
