/** License texts of the bundled libraries. A bundler drops the package files, but the licenses require the texts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly author?: string | { readonly name?: string }
}

interface Library {
  readonly name: string
  readonly version: string
  /** License name from the manifest. */
  readonly license: string
  /** License text from the files named LICENSE, COPYING or NOTICE, or from the README. */
  readonly text: string
}

/** Phrases that a license text must contain. */
const terms = /Permission is hereby granted|Permission to use, copy|Redistribution and use|Apache License|Blue Oak Model License|CC0/

const textFiles = /^(?:licen[cs]e|copying|notice)/i

/**
 * @param modules source files of the bundle, and files copied beside it
 * @returns one text with the license of every package below a `node_modules` folder that these files belong to, sorted by name. Packages with the
 *   same text have it once
 * @throws Error naming the packages without a license text
 */
export function bundledLicenses(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((file) => (file.includes('/node_modules/') ? [folderOf(file)] : [])))
  const libraries = [...folders].map(readLibrary).toSorted((a, b) => titleOf(a).localeCompare(titleOf(b), 'en'))
  const bare = libraries.filter(({ text }) => !terms.test(text))
  if (bare.length > 0) throw new Error(`no license text in ${bare.map(titleOf).join(', ')}: add the terms of its license to withTerms`)
  const unique = new Map(libraries.map((library) => [titleOf(library), library]))
  const alike = Map.groupBy(unique.values(), ({ text }) => text)
  const parts = [...alike].map(([text, some]) => `${some.map(headingOf).join('\n')}\n\n${text}`)
  const pages = [...folders].filter((folder) => existsSync(join(folder, SWAGGER_UI)))
  parts.push(...pages.map((folder) => swaggerUi(readFileSync(join(folder, SWAGGER_UI), 'utf8'))))
  return `Tranche contains code of these packages.\n\n${parts.map((part) => `${'='.repeat(80)}\n${part}\n`).join('\n')}`
}

/** Swagger UI: a prebuilt file contains other packages, whose license texts the library does not have. */
const SWAGGER_UI = 'static/swagger-ui-bundle.js'

/**
 * @returns the license of swagger-ui, and the notices of the packages in its prebuilt files, which swagger-ui-dist has as
 *   `swagger-ui-bundle.js.LICENSE.txt`
 * @throws Error if scripts/licenses has those of another version
 */
function swaggerUi(code: string): string {
  const version = /PACKAGE_VERSION:"([^"]+)"/.exec(code)?.[1] ?? ''
  const notices = `scripts/licenses/swagger-ui-${version}.txt`
  if (!existsSync(notices))
    throw new Error(
      `${notices} is missing: write NOTICE and *.LICENSE.txt of swagger-ui-dist ${version} into it, and remove the one before`,
    )
  const texts = ['LICENSE', notices].map((file) => readFileSync(file, 'utf8').trim())
  return [`swagger-ui ${version} (Apache-2.0), in the folder static`, ...texts, mitTerms].join('\n\n')
}

function headingOf(library: Library): string {
  return `${titleOf(library)} (${library.license})`
}

function titleOf({ name, version }: Library): string {
  return `${name} ${version}`
}

/** @returns the folder of the nearest manifest that has a name and a version */
function folderOf(file: string): string {
  for (let folder = dirname(file.replace(/^\0/, '').replace(/\?.*$/, '')); ; folder = dirname(folder)) {
    const { name, version } = manifestOf(folder)
    if (name !== undefined && version !== undefined) return folder
    if (!folder.includes('/node_modules/')) throw new Error(`${file} does not belong to a package`)
  }
}

function manifestOf(folder: string): Manifest {
  const path = join(folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : {}
}

function readLibrary(folder: string): Library {
  const { name = '', version = '', license = '', author } = manifestOf(folder)
  const files = readdirSync(folder).filter((file) => textFiles.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return { name, version, license, text: withTerms(license, texts.join('\n\n') || inReadme(folder) || byAuthor(author)) }
}

/** Some packages have the text only in their README. */
function inReadme(folder: string): string {
  const readme = readdirSync(folder).find((file) => /^readme/i.test(file))
  if (readme === undefined) return ''
  const text = readFileSync(join(folder, readme), 'utf8')
  return /^#+ *licen[cs]e\b[^\n]*\n([\s\S]*)/im.exec(text)?.[1]?.trim() ?? ''
}

/** Some packages have no text at all: their manifest names the owner. */
function byAuthor(author: Manifest['author']): string {
  const name = typeof author === 'object' ? author.name : author
  return name === undefined ? '' : `Copyright (c) ${name}`
}

/** Adds the license terms of a package that names its license and owner, and only links to the terms. */
function withTerms(license: string, text: string): string {
  return license === 'MIT' && text !== '' && !terms.test(text) ? `${text}\n\n${mitTerms}` : text
}

const mitTerms = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so,
subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`
