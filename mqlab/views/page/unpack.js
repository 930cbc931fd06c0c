// Columns out of a short text: the other half of pack.py.
const LEFT_OUT = ["link", "dest", "frm", "to", "broker", "msg"];

const inflate = async (text) => {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// Differences, the sign in the lowest bit, seven bits a byte; with factors, since shifts end at 32 bits.
const makeReader = (bytes, place) => (count, scale) => {
  const found = new Array(count);
  let last = 0;
  for (let i = 0; i < count; i++) {
    let value = 0,
      factor = 1;
    for (;;) {
      const byte = bytes[place++];
      value += (byte & 127) * factor;
      if (byte < 128) break;
      factor *= 128;
    }
    last += value % 2 ? -(value + 1) / 2 : value / 2;
    found[i] = last / scale;
  }
  return found;
};

const unpack = async (text) => {
  const bytes = await inflate(text),
    end = bytes.indexOf(0),
    read = makeReader(bytes, end + 1),
    tables = {};
  for (const head of JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)))) {
    tables[head.table] ??= {};
    const table = tables[head.table];
    if (head.plain) table[head.column] = head.nan ? head.plain.map((value) => value ?? NaN) : head.plain;
    else if (head.written)
      table[head.column] = head; // when the times are there
    else if (head.ends)
      table[head.column] = read(head.n, 1).map(
        (end, row) => Math.floor((tables.clock.play[end] - table.t0[row]) * 1e4 + 0.5) / 1e4
      );
    else if (head.others !== undefined) {
      const places = read(head.n, 1),
        rows = read(head.others, 1),
        others = read(head.others, head.scale);
      let known = 0,
        other = 0;
      table[head.column] = Array.from({ length: head.n + head.others }, (_, row) =>
        rows[other] === row ? others[other++] : tables.clock.play[places[known++]]
      );
    } else if (!head.patterns) table[head.column] = read(head.n, head.scale);
    else {
      const codes = read(head.n, 1),
        numbers = head.numbers ?? read(head.count, head.scale);
      table[head.column] = { codes, numbers, patterns: head.patterns };
    }
  }
  const moments = new Map(tables.clock?.play.map((play, place) => [play, tables.clock.t[place]]));
  for (const table of Object.values(tables)) {
    if (table.time?.written) table.time = table.play.map((play) => timeText(moments.get(play)));
    const names = Object.keys(table).filter((name) => table[name].patterns);
    for (const name of names.filter((one) => one !== "what").concat(names.filter((one) => one === "what")))
      table[name] = wordsOf(table[name], table);
  }
  return tables;
};

// A pattern with what was left out of it put back; the columns that it is taken from are words by then.
const wordsOf = ({ codes, numbers, patterns }, table) => {
  let next = 0;
  return codes.map((code, row) => {
    const pattern = patterns[code];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: pack.py puts them where something was left out
    return pattern.replace(/[\x01-\x07]/g, (sign, place) => {
      if (sign !== "\x07") return String(table[LEFT_OUT[sign.charCodeAt(0) - 1]][row]);
      const ms = numbers[next++];
      return String(pattern.startsWith(" s", place + 1) ? Math.round(ms * 1000) / 1e6 : ms);
    });
  });
};
