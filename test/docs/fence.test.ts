import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { passRules } from '../../packages/core/fence/src/index.ts'
import { guaranteeIds } from '../../scripts/guarantees.ts'
import { anchorsOf } from './pages.ts'
import { quotedIn, rowsOf } from './test-names.ts'

const page = readFileSync('docs/contribute/fence.md', 'utf8')
const rules = sectionsOf('## ', 'F')
const lemmas = sectionsOf('### ', 'L')
const ids = lemmas.map(({ id }) => id)
const comments = globSync('packages/core/fence/src/**/*.ts').toSorted().flatMap(commentsIn)

describe('docs/contribute/fence.md', () => {
  it('lists the rules of a pass in their order', () => {
    const table = page.slice(page.indexOf('## The rules of a pass'), page.indexOf('## Lemmas'))
    expect(rowsOf(table).map(([first = '']) => quotedIn(first)[0])).toEqual(passRules.map(({ id }) => id))
  })

  it('has one section for each rule of the fence, in order', () => {
    expect(rules.map(({ id }) => id)).toEqual(guaranteeIds.filter((id) => id.startsWith('F')))
  })

  it.each(rules)('states for $id which code keeps it, which guarantees it serves, and on which lemmas it rests', ({ text }) => {
    const [, code = '', served = '', proofs = ''] = /^- Code: ([\s\S]+)^- Serves: (.+)\.$\s^- Lemmas: (.+)\.$/m.exec(text) ?? []
    expect(functionsIn(code)).not.toEqual([])
    expect(served.split(', ').filter((id) => !guaranteeIds.includes(id) || id.startsWith('F'))).toEqual([])
    expect(proofs.split(', ').filter((id) => !/^\[L\d+\]$/.test(id))).toEqual([])
  })

  it('numbers the lemmas without a gap, each with a proof', () => {
    expect(ids).toEqual(ids.map((_, index) => `L${index + 1}`))
    expect(lemmas.filter(({ text }) => !/^\S[\s\S]+\n\n\*Proof\.\* \S/.test(text)).map(({ id }) => id)).toEqual([])
  })

  it('has every lemma that it or a comment of the fence names', () => {
    const named = [
      ...lemmasIn(page).map((id) => `page: ${id}`),
      ...comments.flatMap(({ file, text }) => lemmasIn(text).map((id) => `${file}: ${id}`)),
    ]
    expect(named.filter((one) => !ids.includes(one.split(': ')[1] ?? ''))).toEqual([])
  })

  it('has no lemma that neither a rule nor a comment of the fence names', () => {
    const named = [...rules, ...comments].flatMap(({ text }) => lemmasIn(text))
    expect(ids.filter((id) => !named.includes(id))).toEqual([])
  })

  it('leads from each lemma that a rule names to its heading', () => {
    const anchors = anchorsOf(page)
    const targets = new Map([...page.matchAll(/^\[(L\d+)\]: #(\S+)$/gm)].map((match) => [match[1] ?? '', match[2] ?? '']))
    const linked = [...page.matchAll(/\[(L\d+)\](?!:)/g)].map((match) => match[1] ?? '')
    expect([...targets].filter(([id, anchor]) => !anchors.includes(anchor) || !anchor.startsWith(`${id.toLowerCase()}--`))).toEqual([])
    expect(new Set(linked)).toEqual(new Set(targets.keys()))
  })

  it('links each function to the file that declares it', () => {
    const linked = functionsIn(page)
    expect(linked.length).toBeGreaterThan(40)
    expect(linked.filter(({ name, file }) => !isDeclaredIn(name, file))).toEqual([])
  })
})

interface Section {
  readonly id: string
  readonly text: string
}

/** Sections whose heading is an id of this kind and a name; each ends at the next heading. */
function sectionsOf(level: string, kind: string): readonly Section[] {
  const pattern = new RegExp(`^${level}(${kind}\\d+) · \\S.*\\n\\n([\\s\\S]*?)(?=^#|^\\[|$(?![\\s\\S]))`, 'gm')
  return [...page.matchAll(pattern)].map(([, id = '', text = '']) => ({ id, text }))
}

interface CommentText {
  readonly file: string
  readonly text: string
}

function commentsIn(file: string): readonly CommentText[] {
  return [...readFileSync(file, 'utf8').matchAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm)].map(([text]) => ({ file, text }))
}

function lemmasIn(text: string): readonly string[] {
  const spelled = text.replaceAll(/\bL(\d+) to L(\d+)\b/g, (_all, from: string, to: string) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => `L${Number(from) + at}`).join(' '),
  )
  return [...spelled.matchAll(/\bL\d+\b/g)].map(([id]) => id)
}

interface LinkedFunction {
  readonly name: string
  /** From the root of the repository. */
  readonly file: string
}

function functionsIn(text: string): readonly LinkedFunction[] {
  return [...text.matchAll(/\[`(\w+)`\]\((?:\.\.\/)+(\S+?\.ts)\)/g)].map(([, name = '', file = '']) => ({ name, file }))
}

function isDeclaredIn(name: string, file: string): boolean {
  return existsSync(file) && new RegExp(`\\b(?:function|const) ${name}\\b`).test(readFileSync(file, 'utf8'))
}
