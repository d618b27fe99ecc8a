import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { layers } from './layers.ts'
import { filesOf, folderOf, importsOf, type SourceFile } from './source-tree.ts'

/** A folder with more files is hard to scan. */
const MAX_FILES = 25

const everyone = layers.flatMap((layer) => layer.packages)

describe('the folders inside a package', () => {
  it.each(everyone)('of %s import one another in one direction only', (name) => {
    expect(cyclesOf(importsBetweenFolders(`${folderOf(name)}/src`, filesOf(name, 'src')))).toEqual([])
  })

  it.each(everyone)(`of %s have at most ${MAX_FILES} files each`, (name) => {
    const folders = Map.groupBy(filesOf(name, 'src'), ({ path }) => dirname(path))
    expect([...folders].filter(([, files]) => files.length > MAX_FILES).map(([folder]) => folder)).toEqual([])
  })
})

describe('cyclesOf', () => {
  it.each([
    ['nothing where imports point one way', { a: ['b', 'c'], b: ['c'] }, []],
    ['two folders that import each other', { a: ['b'], b: ['a', 'c'] }, [['a', 'b']]],
    ['a longer way round', { a: ['b'], b: ['c'], c: ['a'], d: ['a'] }, [['a', 'b', 'c']]],
  ])('finds %s', (_what, imports, cycles) => {
    expect(cyclesOf(new Map(Object.entries(imports).map(([folder, others]) => [folder, new Set(others)])))).toEqual(cycles)
  })
})

/** The entry `index.ts` re-exports files of every folder, and imports nothing for itself. */
function importsBetweenFolders(root: string, files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>()
  for (const file of files.filter(({ path }) => path !== `${root}/index.ts`)) {
    const from = relative(root, dirname(file.path))
    const inner = importsOf(file).filter((module) => module.startsWith('.'))
    const others = inner.map((module) => relative(root, dirname(join(dirname(file.path), module)))).filter((to) => to !== from)
    imports.set(from, new Set([...(imports.get(from) ?? []), ...others]))
  }
  return imports
}

/** @returns groups of folders of which each can be reached from every other, each group sorted */
function cyclesOf(imports: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const reach = new Map([...imports.keys()].map((folder) => [folder, reachableFrom(imports, folder)]))
  const groups = [...reach].flatMap(([folder, others]) => {
    const group = [...others].filter((other) => reach.get(other)?.has(folder)).toSorted()
    return group.length > 1 && group[0] === folder ? [group] : []
  })
  return groups
}

function reachableFrom(imports: ReadonlyMap<string, ReadonlySet<string>>, start: string): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const other of imports.get(folder) ?? []) {
      if (reached.has(other)) continue
      reached.add(other)
      open.push(other)
    }
  return reached
}
