import { resolve } from 'node:path'
import { API, type Project } from 'typescript/unstable/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { layers } from './layers.ts'
import { filesOf, parseSource, type SourceFile } from './source-tree.ts'

/** Packages whose texts reach objects: statuses, records, events, annotations, Leases, pods, notifications. */
const builders = [
  ...layers.flatMap(({ name, packages }) => (['core', 'clients', 'shells'].includes(name) ? packages : [])),
  'kube-client',
  'controller',
  'executor',
]

/** The beginning of a text or list. */
const cuts = /\.(?:slice|substring|substr)\(\s*0\s*,\s*((?:[^()]|\([^()]*\))*)\)/g
/** Its end is a limit: a constant, a number, or a parameter `most`. A place that was found in the text is none, nor is one from its end. */
const limit = /^(?!-).*(?:\b[A-Z]{2}|[1-9]|\bmost)/s
/** ASCII: digests, times, and names of objects, which lose a trailing separator. */
const ascii = { before: /(?:sha256Hex|digest|toISOString)\(.*\)$/s, after: /^\s*\.replace\(\/\[[^\]]+\]\+\$\// }

let api: API
let project: Project
beforeAll(() => {
  api = new API({ cwd: process.cwd() })
  const [opened] = api.updateSnapshot({ openProject: resolve('tsconfig.json') }).getProjects()
  if (opened === undefined) throw new Error('tsconfig.json is no project')
  project = opened
})
afterAll(() => api.close())

describe('half a surrogate pair', () => {
  it.each(builders)('%s cuts texts with clipText alone, which never leaves half', (name) => {
    expect(
      filesOf(name, 'src').flatMap((file) =>
        cutsOf(file)
          .filter(({ at }) => isText(file, at))
          .map(({ where }) => where),
      ),
    ).toEqual([])
  })

  it.each(layers.flatMap(({ name, packages }) => (name === 'core' ? packages : [])))(
    '%s reads JSON with readJson, as API servers do',
    (name) => {
      expect(filesOf(name, 'src').flatMap(({ path, code }) => (code.includes('JSON.parse(') ? [path] : []))).toEqual([])
    },
  )

  it('is found in each form of a cut, and not in lists, digests, times, names and parts before a separator', () => {
    const lines = [
      'text.slice(0, LONGEST_TEXT)',
      'text.slice(0, 60)',
      'text.trim().substring(0, most - 1)',
      'text.slice(0, Math.max(0, MOST - 1))',
      'text.slice(0, -1)',
      'text.slice(0, slash)',
      "text.slice(0, text.indexOf('/'))",
      'sha256Hex(text).slice(0, 16)',
      "name.slice(0, NAME_MAX).replace(/[-.]+$/, '')",
    ]
    const found = lines.filter((line) => cutsOf(parseSource('a.ts', line)).length > 0)
    expect(found).toEqual(lines.slice(0, 4))
  })

  it('is looked for by type: a list is no text', () => {
    const [file] = filesOf('kube-types', 'src').filter(({ path }) => path.endsWith('clip-text.ts'))
    const texts = file === undefined ? [] : [...file.code.matchAll(/\.slice\(/g)].map(({ index }) => isText(file, index))
    expect(texts).toEqual([true])
    const lists = filesOf('verdict', 'src').flatMap((one) => cutsOf(one).map(({ at }) => isText(one, at)))
    expect(lists.length).toBeGreaterThan(0)
    expect(lists).not.toContain(true)
  })
})

interface Cut {
  /** Offset of the dot. */
  readonly at: number
  /** Path and line. */
  readonly where: string
}

function cutsOf({ path, code }: SourceFile): readonly Cut[] {
  return [...code.matchAll(cuts)].flatMap(({ 0: text, 1: end = '', index: at }) => {
    if (!limit.test(end)) return []
    const before = code.slice(code.lastIndexOf('\n', at) + 1, at)
    if (ascii.before.test(before) || ascii.after.test(code.slice(at + text.length))) return []
    return [{ at, where: `${path}:${code.slice(0, at).split('\n').length} ${text}` }]
  })
}

function isText({ path }: SourceFile, at: number): boolean {
  const type = project.checker.getTypeAtPosition(resolve(path), at + 1)
  if (type === undefined) throw new Error(`${path} has no type at ${at}`)
  return project.checker.typeToString(type).endsWith('=> string')
}
