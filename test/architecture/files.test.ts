import { describe, expect, it } from 'vitest'
import { layers, longFiles } from './layers.ts'
import { filesOf, type SourceFile } from './source-tree.ts'

const everyone = layers.flatMap((layer) => layer.packages)
const allSources = everyone.flatMap((name) => filesOf(name, 'src'))
const maxLines = 350

describe('every export is documented', () => {
  it.each(everyone)('in %s', (name) => {
    expect(filesOf(name, 'src').flatMap(undocumentedExports)).toEqual([])
  })
})

describe('files', () => {
  it.each(everyone)('%s lists the names it exports', (name) => {
    const index = filesOf(name, 'src').filter((file) => file.path.endsWith('/index.ts'))
    expect(index.filter((file) => /export\s*\*/.test(file.code)).map((file) => file.path)).toEqual([])
  })

  it(`stay below ${maxLines} lines, or have a reason in longFiles`, () => {
    const long = allSources.filter((file) => linesOf(file) > maxLines && longFiles[file.path] === undefined)
    expect(long.map((file) => `${file.path}: ${linesOf(file)} lines`)).toEqual([])
  })

  it('have such an exception only while they need it', () => {
    const needing = allSources.filter((file) => linesOf(file) > maxLines).map((file) => file.path)
    expect(Object.keys(longFiles).filter((path) => !needing.includes(path))).toEqual([])
  })

  it('have names in kebab-case', () => {
    const odd = allSources.filter((file) => !/^[a-z0-9-]+(\.[a-z0-9-]+)*\.tsx?$/.test(file.path.split('/').at(-1) ?? ''))
    expect(odd.map((file) => file.path)).toEqual([])
  })
})

/** Declarations only. The declaration behind `export { … }` has its own comment. Overloads share the comment of the first. */
function undocumentedExports(file: SourceFile): readonly string[] {
  const lines = file.text.split('\n')
  const seen = new Set<string>()
  return lines.flatMap((line, index) => {
    const name = /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/.exec(
      line,
    )?.[1]
    if (name === undefined || seen.has(name)) return []
    seen.add(name)
    return (lines[index - 1] ?? '').trimEnd().endsWith('*/') ? [] : [`${file.path}:${index + 1} ${name}`]
  })
}

function linesOf(file: SourceFile): number {
  return file.text.split('\n').length - 1
}
