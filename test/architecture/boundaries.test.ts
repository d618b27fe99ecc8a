import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { descriptions } from '../../scripts/packages.ts'
import { layers, ownedLibraries, purePackages, testsOnly } from './layers.ts'
import { filesOf, folderOf, importsOf, ownImportsOf, type SourceFile } from './source-tree.ts'

const everyone = layers.flatMap((layer) => layer.packages)
const impure =
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.|\bMath\.random\(|\bset(?:Timeout|Interval|Immediate)\(|\bprocess\.|\bfetch\(|\bcrypto\b|\bglobalThis\b/
const timeAndChance = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(|\bset(?:Timeout|Interval)\(/

describe('imports point from the shell to the core', () => {
  it.each(everyone)('%s imports only earlier packages', (name) => {
    const allowed = allowedFor(name)
    const forbidden = filesOf(name, 'src').flatMap((file) =>
      ownImportsOf(file)
        .filter((other) => !allowed.includes(other))
        .map((other) => `${file.path} imports ${other}`),
    )
    expect(forbidden).toEqual([])
  })

  it.each(everyone)('%s imports other packages only through their index', (name) => {
    const inner = [...filesOf(name, 'src'), ...filesOf(name, 'test')].flatMap((file) =>
      importsOf(file)
        .filter((module) => /^@tranche\/[^/]+\//.test(module) || leavesPackage(file, module))
        .map((module) => `${file.path} imports ${module}`),
    )
    expect(inner).toEqual([])
  })

  it.each(Object.entries(ownedLibraries))('%s is imported by %s alone', (library, owners) => {
    const others = everyone.filter((name) => ![owners].flat().includes(name))
    const knowing = others.flatMap((name) => filesOf(name, 'src')).filter((file) => importsOf(file).some((module) => isOf(library, module)))
    expect(knowing.map((file) => file.path)).toEqual([])
  })
})

describe('purity', () => {
  it.each(purePackages)('%s uses no clock, randomness, environment, network or Node built-in', (name) => {
    const files = filesOf(name, 'src')
    const touching = files.filter((file) => impure.test(file.code) || importsOf(file).some((module) => module.startsWith('node:')))
    expect(touching.map((file) => file.path)).toEqual([])
  })

  it.each(layers.flatMap((layer) => (layer.name === 'apps' ? [] : layer.packages)).filter((name) => name !== 'clock'))(
    '%s takes time from the Clock port and randomness from a seed',
    (name) => {
      const touching = filesOf(name, 'src').filter((file) => timeAndChance.test(file.code))
      expect(touching.map((file) => file.path)).toEqual([])
    },
  )
})

/**
 * Files that parse times which are none of an object: HTTP dates, dates of certificates, a format of CEL. Simulator and conformance suite play
 * the cluster. The dashboard only shows the times that it gets.
 */
const othersTimes = [
  'packages/words/kube-types/src/time.ts',
  'packages/words/cel/src/libraries/formats.ts',
  'packages/adapters/certificates/src/certificate.ts',
  'packages/adapters/kube-client/src/exchange/server-clock.ts',
  'packages/clients/doctor/src/checks/check-webhooks.ts',
  'packages/clients/doctor/src/signs/read-signs.ts',
]
const playsOrShows = [...layers.flatMap(({ name, packages }) => (name === 'simulator' ? packages : [])), 'kube-conformance', 'dashboard']

describe('times of objects', () => {
  it.each(everyone.filter((name) => !playsOrShows.includes(name)))('%s reads them with parseTime, so that none is NaN', (name) => {
    const parsing = filesOf(name, 'src').filter(({ code }) => /\bDate\s*\.\s*parse\b/.test(code))
    expect(parsing.map(({ path }) => path).filter((path) => !othersTimes.includes(path))).toEqual([])
  })
})

describe('the map', () => {
  it('lists every package and app, in the order of scripts/packages.ts', () => {
    const folders = globSync(['packages/*/*/package.json', 'apps/*/package.json']).map((path) => dirname(path))
    expect(everyone.map(folderOf)).toEqual(Object.keys(descriptions))
    expect(folders.toSorted()).toEqual(Object.keys(descriptions).toSorted())
  })

  it.each(Object.entries(descriptions))('%s is described in one sentence', (_folder, sentence) => {
    expect(sentence).toMatch(/^[A-Z][^.]*\.$/)
  })

  it.each(layers.filter(({ name }) => name !== 'apps'))('packages/$name has a README that names the layers it may import', (layer) => {
    const text = readFileSync(`packages/${layer.name}/README.md`, 'utf8')
    const named = [...text.matchAll(/^Imports (.*)\.$/gm)].flatMap(([, list = '']) =>
      [...list.matchAll(/`([a-z]+)`/g)].map(([, name]) => name),
    )
    expect(named).toEqual(layer.mayImport)
  })

  it('has no package with a catch-all name', () => {
    expect(everyone.filter((name) => /util|common|shared|helper|^core$|manager/.test(name))).toEqual([])
  })
})

/** Folders that tests of several packages share, and the repository's programs, which start a Redis for them. */
const forTests = ['test/fakes/', 'scripts/']

/** Relative paths must stay inside a package. */
function leavesPackage({ path }: SourceFile, module: string): boolean {
  if (!module.startsWith('.')) return false
  const target = join(dirname(path), module)
  return !target.startsWith(`${packageFolderOf(path)}/`) && !(path.includes('/test/') && forTests.some((place) => target.startsWith(place)))
}

function packageFolderOf(path: string): string {
  return path.split('/', path.startsWith('packages/') ? 3 : 2).join('/')
}

function allowedFor(name: string): readonly string[] {
  const layer = layers.find(({ packages }) => packages.includes(name))
  if (layer === undefined) throw new Error(`${name} is in no layer`)
  const mayImport = testsOnly[name] ?? layer.mayImport
  const above = layers.filter((other) => mayImport.includes(other.name)).flatMap((other) => other.packages)
  const beside = name in testsOnly ? [] : layer.packages.slice(0, layer.packages.indexOf(name))
  return [...above, ...beside].filter((other) => !(other in testsOnly))
}

function isOf(library: string, module: string): boolean {
  return module === library || module.startsWith(`${library}/`)
}
