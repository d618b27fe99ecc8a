/** The C libraries of the image: files of Debian packages, pinned by `debian-libraries.json`. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { fileOf, type ImageFile } from './files.ts'
import { type Architecture, architectures } from './oci-layout.ts'

/** A Debian package of one architecture. */
export interface DebianPackage {
  readonly architecture: Architecture
  readonly name: string
  readonly version: string
  /** SHA-256 of the package, in hexadecimal digits. */
  readonly sha256: string
}

/** Packages whose libraries Node.js loads. The last one has the licence of the two before it. */
const names = ['libc6', 'libgcc-s1', 'libstdc++6', 'gcc-12-base'] as const
const lockFile = join(import.meta.dirname, 'debian-libraries.json')

/** Libraries that Node.js loads, the loader, those that look up names, and the licences. */
const wanted = new RegExp(
  [
    String.raw`^lib(64)?/ld-linux-[\w.-]+$`,
    String.raw`^lib/[\w-]+-linux-gnu/(ld-linux-[\w.-]+|lib(c|m|dl|pthread|rt|resolv|nss_dns|nss_files|gcc_s)\.so\.\d)$`,
    String.raw`^usr/lib/[\w-]+-linux-gnu/libstdc\+\+\.so\.6[\d.]*$`,
    '^usr/share/doc/(libc6|gcc-12-base)/copyright$',
  ].join('|'),
)

/** @returns the pinned packages */
export function lockedPackages(): readonly DebianPackage[] {
  return JSON.parse(readFileSync(lockFile, 'utf8')) as readonly DebianPackage[]
}

/**
 * @param packages of one architecture
 * @param cache folder that keeps downloads
 * @returns libraries and licences
 * @throws {Error} if a package has another content than the pinned one, or Debian no longer offers it
 */
export async function libraryFiles(packages: readonly DebianPackage[], cache: string): Promise<readonly ImageFile[]> {
  const folder = join(cache, 'debian')
  mkdirSync(folder, { recursive: true })
  fetchMissing(packages, folder)
  const files = await Promise.all(packages.map((one) => filesOf(checked(one, folder))))
  return files.flat()
}

/** Pins the newest packages that Debian offers. */
export function pinNewest(): void {
  writeFileSync(lockFile, `${JSON.stringify(newestPackages(), null, 2)}\n`)
}

/** @returns the newest packages that Debian offers, of all architectures */
export function newestPackages(): readonly DebianPackage[] {
  return architectures.flatMap((architecture) => withApt(architecture, (options) => newest(architecture, options)))
}

function newest(architecture: Architecture, options: readonly string[]): readonly DebianPackage[] {
  return names.map((name) => {
    const fields = new Map(
      execFileSync('apt-cache', [...options, 'show', '--no-all-versions', name], { encoding: 'utf8' })
        .split('\n')
        .map((line) => line.split(': ', 2) as [string, string]),
    )
    return { architecture, name, version: fields.get('Version') ?? '', sha256: fields.get('SHA256') ?? '' }
  })
}

function fetchMissing(packages: readonly DebianPackage[], folder: string): void {
  const missing = packages.filter((one) => !existsSync(fileOfPackage(one, folder)))
  const [first] = missing
  if (first === undefined) return
  const download = mkdtempSync(join(folder, 'download-'))
  try {
    withApt(first.architecture, (options) => {
      const wantedVersions = missing.map(({ name, version }) => `${name}=${version}`)
      execFileSync('apt-get', [...options, '--quiet=2', 'download', ...wantedVersions], { cwd: download, stdio: 'pipe' })
    })
    for (const one of missing) {
      const file = readdirSync(download).find((name) => name.startsWith(`${one.name}_`))
      if (file !== undefined) renameSync(join(download, file), fileOfPackage(one, folder))
    }
  } catch (error) {
    throw new Error('Debian does not offer the pinned packages; `pnpm build:image --pin` pins those that it offers', { cause: error })
  } finally {
    rmSync(download, { recursive: true })
  }
}

/** Reads Debian's lists for an architecture into a folder of its own, with the sources of this machine. Needs no rights. */
export function withApt<T>(architecture: Architecture, use: (options: readonly string[]) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-apt-'))
  try {
    for (const part of ['state/lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, part), { recursive: true })
    writeFileSync(join(folder, 'status'), '')
    const settings = {
      'Dir::State': join(folder, 'state'),
      'Dir::State::status': join(folder, 'status'),
      'Dir::Cache': join(folder, 'cache'),
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'APT::Sandbox::User': 'root',
      'Acquire::Languages': 'none',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    execFileSync('apt-get', [...options, '--quiet=2', 'update'], { stdio: 'pipe' })
    return use(options)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function checked(one: DebianPackage, folder: string): string {
  const file = fileOfPackage(one, folder)
  const found = createHash('sha256').update(readFileSync(file)).digest('hex')
  if (found !== one.sha256) throw new Error(`${one.name} ${one.version} (${one.architecture}) is not the pinned package: ${found}`)
  return file
}

function fileOfPackage({ name, version, architecture }: DebianPackage, folder: string): string {
  return join(folder, `${name}_${version.replace(':', '%3a')}_${architecture}.deb`)
}

async function filesOf(deb: string): Promise<readonly ImageFile[]> {
  const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', deb], { maxBuffer: 2 ** 28 })
  const files: ImageFile[] = []
  for await (const entry of Readable.from([tar]).pipe(extract())) {
    const { name, type, mode, linkname } = entry.header
    const path = name.replace(/^\.\//, '')
    const content = await buffer(entry)
    if (!wanted.test(path)) continue
    files.push(type === 'symlink' ? { path, mode: 0o777, target: linkname ?? '' } : fileOf(path, content, mode & 0o777))
  }
  return files
}
