import { describe, expect, it } from 'vitest'
import { importsOf, parseSource } from './source-tree.ts'

describe('importsOf', () => {
  it.each([
    ['a named import', "import { a } from '@tranche/telemetry'", ['@tranche/telemetry']],
    ['an import over several lines', "import {\n  a, // why\n  type B,\n} from './b.ts'", ['./b.ts']],
    ['a default import beside named ones', 'import d, { type E } from "node:fs"', ['node:fs']],
    ['a namespace', "import * as ns from 'x'", ['x']],
    ['an import for its effect', "import 'x'", ['x']],
    ['a re-export', "export { a } from './a.ts'\nexport type { B } from './b.ts'\nexport * from './c.ts'", ['./a.ts', './b.ts', './c.ts']],
    ['a dynamic import', "const m = await import('x')", ['x']],
    ['nothing in a comment', "// import a from 'a'\n/* import b from 'b' */\n/**\n * import c from 'c'\n */", []],
    [
      'nothing in a string',
      `const url = 'https://x' // import z from 'z'\nexport const s = 'text'\nexport const t = \`import y from "y"\``,
      [],
    ],
  ])('finds %s', (_what, text, modules) => {
    expect(importsOf(parseSource('a.ts', text))).toEqual(modules)
  })
})

describe('code', () => {
  it('has blanks in place of comments, line by line', () => {
    const source = parseSource('a.ts', "/** Date.now() */\nconst a = 1 // fetch(x)\nconst u = 'http://x'\n")
    expect(source.code.split('\n').map((line) => line.trimEnd())).toEqual(['', 'const a = 1', "const u = 'http://x'", ''])
  })

  it('keeps a regular expression that ends in an escaped slash', () => {
    const text = "if (/^https?:\\/\\//i.test(a) || /[/]*/.test(b)) return /\\{'/ // why\nconst c = a / 2 // 'half'\n"
    expect(
      parseSource('a.ts', text)
        .code.split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual(["if (/^https?:\\/\\//i.test(a) || /[/]*/.test(b)) return /\\{'/", 'const c = a / 2', ''])
  })
})
