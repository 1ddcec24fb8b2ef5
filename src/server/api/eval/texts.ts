/**
 * server/api/eval owns how good a model is: texts that it scores, calls and JSON that it writes, how fast, in how much memory, and how
 * far it is from another model. It runs workers of its own and knows nothing of the command line.
 * This file: the texts, written for this project and under its licence, of the kinds that people give to models.
 */
export interface EvalText {
  readonly name: string;
  readonly text: string;
}

const PROSE = `The harbour was quiet when Marta opened the shop. She put the kettle on, swept the step and turned the sign. The
first customer was always the postman, who bought one apple and paid with a large note. "You will ruin me one day," she said, and
counted the coins into his hand. He laughed and told her that the ferry was late again, because the fog had not lifted from the
strait. By nine o'clock the fishermen came in for rope and coffee. They argued about the weather, about the price of diesel, and
about the council, which wanted to paint the old pier white. Nobody wanted a white pier. A pier should be the colour of wood, they
said, and wood is grey. In the afternoon the fog went away as if someone had pulled a sheet from a table. The ferry came in with
its horn sounding, and forty people with rucksacks walked past the window. Some of them bought postcards. One woman asked whether
the island had a museum. Marta told her that it had a lighthouse, a church and a dog that could open doors, and that most visitors
liked the dog best. When the woman had gone, Marta wrote the sum of the day into the book, as her father had done, and his mother
before him. It was a good day. She locked the door, and the dog, who had been waiting, walked home with her.`;

const EXPLANATION = `A cache keeps copies of data that were expensive to get. When a program asks for the same data again, the cache
answers at once. This works because programs tend to ask for what they asked for recently. A cache has limited room, so it must
remove something when it is full. The usual rule removes what was not used for the longest time. The rule is simple, but it fails
when a program reads a long file once: every line of the file pushes out something useful. Better rules count how often an item was
used, or protect items that were used twice. A second problem is that the original data may change. Then the copy is wrong, and the
cache must either be told or check for itself. There is an old joke that only two things are hard in computing: naming things,
invalidating caches, and counting. Measure before you add a cache. If the answers are rarely asked for twice, a cache only adds
memory, code and one more place where things can be wrong.`;

const CODE = `import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Version:
    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> "Version":
        match = re.fullmatch(r"v?(\\d+)\\.(\\d+)\\.(\\d+)", text.strip())
        if match is None:
            raise ValueError(f"not a version: {text!r}")
        return cls(*(int(part) for part in match.groups()))

    def __lt__(self, other: "Version") -> bool:
        return (self.major, self.minor, self.patch) < (other.major, other.minor, other.patch)


def newest(names: list[str]) -> str | None:
    versions = []
    for name in names:
        try:
            versions.append((Version.parse(name), name))
        except ValueError:
            continue
    if not versions:
        return None
    return max(versions, key=lambda pair: (pair[0].major, pair[0].minor, pair[0].patch))[1]


if __name__ == "__main__":
    print(newest(["v1.2.3", "latest", "v1.10.0", "v0.9.9"]))
`;

const JSON_TEXT = `{
  "order": {
    "id": "A-20417",
    "created": "2026-03-14T09:26:53Z",
    "customer": {"name": "Ada Berg", "email": "ada@example.org", "country": "NO"},
    "items": [
      {"sku": "TEA-100", "name": "Green tea", "quantity": 2, "price": 7.5},
      {"sku": "CUP-020", "name": "Blue cup", "quantity": 4, "price": 12.0},
      {"sku": "POT-001", "name": "Teapot", "quantity": 1, "price": 39.9}
    ],
    "shipping": {"method": "post", "price": 6.0, "address": {"street": "Storgata 1", "city": "Oslo", "zip": "0155"}},
    "total": 108.9,
    "paid": true,
    "notes": null
  }
}
`;

const CALLS = `User: What is the weather in Oslo and in Bergen tomorrow?
Assistant calls: [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1}}, {"name": "get_weather", "arguments": {"city": "Bergen", "days": 1}}]
Tool get_weather: {"city": "Oslo", "days": 1, "high": 14, "low": 6, "sky": "clear"}
Tool get_weather: {"city": "Bergen", "days": 1, "high": 11, "low": 7, "sky": "rain"}
Assistant: Oslo will be clear tomorrow with up to 14 degrees. Bergen will have rain and up to 11 degrees.
User: Book a table for two in Oslo at seven.
Assistant calls: [{"name": "book_table", "arguments": {"city": "Oslo", "people": 2, "time": "19:00"}}]
Tool book_table: {"status": "booked", "restaurant": "Fjord", "time": "19:00", "code": "FJ-81"}
Assistant: I booked a table for two at Fjord in Oslo at 19:00. The code is FJ-81.
`;

const ARITHMETIC = `7 + 5 = 12
12 + 19 = 31
40 - 13 = 27
6 * 7 = 42
9 * 9 = 81
56 / 8 = 7
100 - 37 = 63
25 * 4 = 100
144 / 12 = 12
17 + 28 = 45
A shop sells pens at 3 coins each. Four pens cost 3 * 4 = 12 coins. With a note of 20 coins the change is 20 - 12 = 8 coins.
A train leaves at 14:10 and arrives at 15:55. The trip takes 1 hour and 45 minutes.
Half of 90 is 45. A third of 90 is 30. Ten percent of 90 is 9.
1, 2, 4, 8, 16, 32, 64, 128, 256
`;

const GERMAN = `Der Zug nach Hamburg hatte zwanzig Minuten Verspätung. Auf dem Bahnsteig standen die Leute mit hochgezogenen Schultern,
denn es war kalt, und der Kaffee aus dem Automaten schmeckte nach Pappe. Ein Kind fragte seine Mutter, warum Züge nicht einfach
schneller fahren, wenn sie zu spät sind. Die Mutter wusste keine Antwort. Als der Zug endlich kam, stiegen alle ein, und nach fünf
Minuten war die Verspätung vergessen. Draußen zogen Felder vorbei, auf denen noch Schnee lag.`;

const FRENCH = `Le marché ouvre à sept heures. Les vendeurs installent leurs tables, et l'odeur du pain frais se répand dans la rue. Une
vieille dame achète toujours trois tomates et un citron. Elle discute le prix, bien que tout le monde sache qu'elle paiera. Vers
midi, la place est pleine. On entend des rires, des cris d'enfants et la cloche de l'église. Puis, à deux heures, tout le monde
rentre chez soi, et les pigeons restent seuls avec les miettes.`;

const SPANISH = `Mi abuelo decía que el mar tiene memoria. Cada mañana bajaba a la playa, miraba las olas y anotaba algo en un cuaderno.
Nunca supimos qué escribía. Cuando murió, encontramos treinta cuadernos en un armario. En cada página había una fecha y una sola
palabra: calma, viento, niebla, luz. Mi madre los leyó todos en una semana. Después salió a caminar por la orilla, y al volver
compró un cuaderno nuevo.`;

export const EVAL_TEXTS: readonly EvalText[] = [
  { name: 'prose', text: PROSE.replaceAll('\n', ' ') },
  { name: 'explanation', text: EXPLANATION.replaceAll('\n', ' ') },
  { name: 'code', text: CODE },
  { name: 'JSON', text: JSON_TEXT },
  { name: 'tool calls', text: CALLS },
  { name: 'arithmetic', text: ARITHMETIC },
  { name: 'German', text: GERMAN.replaceAll('\n', ' ') },
  { name: 'French', text: FRENCH.replaceAll('\n', ' ') },
  { name: 'Spanish', text: SPANISH.replaceAll('\n', ' ') },
];

/** Sentences that say nothing of the facts between them. */
export const FILLER: readonly string[] = [PROSE, EXPLANATION].flatMap((text) =>
  text.replaceAll('\n', ' ').split(/(?<=[.?!]) /),
);
