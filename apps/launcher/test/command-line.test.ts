import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch } from '@tranche/launcher'
import { describe, expect, it } from 'vitest'

describe('the command line', () => {
  const refused: Record<string, { args: string; says: string }> = {
    'refuses an invalid number of nodes': {
      args: 'dev --nodes many',
      says: '--nodes does not take "many". Give a whole number from 0 to 10000.',
    },
    'refuses more nodes than it simulates': { args: 'dev --nodes 10001', says: '--nodes does not take "10001"' },
    'refuses more nodes than it supports': { args: 'dev --speed 0', says: '--speed does not take "0"' },
    'refuses a port that does not exist': { args: 'dev --port 65536', says: '--port does not take "65536"' },
    'refuses a delay range that runs backwards': { args: 'dev --watch-delay-ms 20-10', says: '--watch-delay-ms does not take "20-10"' },
    'refuses a reversed delay range': { args: 'dev --demo -o yaml', says: '--output does not take "yaml". Give json.' },
    'refuses an unknown admission': {
      args: 'dev --admission webhook',
      says: '--admission does not take "webhook". Give none or in-process.',
    },
    'refuses virtual time without --demo': { args: 'dev --virtual', says: '--virtual requires --demo' },
    'refuses --exit without --demo': { args: 'dev --exit', says: '--exit requires --demo' },
    'refuses a JSON result without --demo': { args: 'dev -o json', says: '--output json requires --demo' },
    'refuses a port in virtual time': { args: 'dev --virtual --demo --port 6443', says: '--port cannot be combined with --virtual' },
    'refuses a port for faults in virtual time': {
      args: 'dev --virtual --demo --faults-port 7000',
      says: '--faults-port cannot be combined with --virtual',
    },
    'refuses an empty path of faults': { args: 'sim --faults=', says: '--faults does not take ""' },
    'refuses virtual time for a simulator that others use': { args: 'sim --virtual', says: "unknown option '--virtual'" },
    'refuses an unknown queue': {
      args: 'executor --queue redis',
      says: '--queue does not take "redis". Give in-process, or use --redis URL instead.',
    },
    'refuses a release in an empty cluster': {
      args: 'dev --no-demo --demo',
      says: '--no-demo cannot be combined with --demo. Leave one of them out',
    },
    'refuses a release in an empty cluster, in either order': {
      args: 'dev --demo --no-demo',
      says: '--no-demo cannot be combined with --demo',
    },
    'refuses admission in a controller that does not serve the API': {
      args: 'controller --admission in-process',
      says: '--admission does not take "in-process". Give none or policy or webhook.',
    },
    'refuses a webhook without a certificate': {
      args: 'controller --admission webhook',
      says: '--admission webhook requires a certificate. Add --webhook-secret NAMESPACE/NAME',
    },
    'refuses webhook options without --admission webhook': {
      args: 'controller --webhook-port 9443',
      says: '--webhook-port requires --admission webhook',
    },
    'refuses admission in all-in-one': { args: 'all-in-one --admission in-process', says: 'Give none or policy' },
    'refuses admission in a simulator that others use': { args: 'sim --admission in-process', says: "unknown option '--admission'" },
    'refuses an invalid host, before anything starts': {
      args: 'controller --allow-host http://prometheus',
      says: '--allow-host does not take "http://prometheus". Give a name such as prometheus.monitoring',
    },
    'refuses the host *': { args: 'dev --allow-host a.example --allow-host *', says: '--allow-host does not take "*"' },
    'refuses to ask hosts in virtual time': {
      args: 'dev --virtual --demo --allow-host localhost:9090',
      says: '--allow-host cannot be combined with --virtual',
    },
    'refuses an unknown option': { args: 'dev --wat', says: "unknown option '--wat'" },
    'names the help of the command that an option was given to': { args: 'sim --wat', says: 'Try tranche sim --help.' },
    'names the help of the command with the option': { args: 'devv', says: "unknown command 'devv'" },
    'refuses help for an unknown command': { args: 'help lnt', says: "OPTION_INVALID: unknown command 'lnt'. Try tranche --help." },
    'suggests the closest command': {
      args: 'gte',
      says: "OPTION_INVALID: unknown command 'gte'. Did you mean get? Try tranche --help.",
    },
    'refuses an empty path': { args: 'dev --ready-file=', says: '--ready-file does not take ""' },
  }

  it.each(Object.entries(refused))('%s', async (_name, { args, says }) => {
    const io = capture()
    await expect(launch(args.split(' '), io)).resolves.toBe(2)
    expect(io.texts.err).toContain(says)
    expect(io.texts.err).toMatch(/^OPTION_INVALID: [^\n]+\n$/)
    expect(io.texts.out).toBe('')
  })

  it('says in one line that a kubeconfig cannot be read, and fails', async () => {
    const io = capture()
    await expect(launch(['controller', '--kubeconfig', '/does/not/exist'], io)).resolves.toBe(1)
    expect(io.texts.err).toMatch(/^KUBECONFIG_INVALID: kubeconfig \/does\/not\/exist cannot be read: .*\n$/)
  })

  it('says in one line that a kubeconfig is not YAML, and quotes nothing from it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
    const path = join(folder, 'config')
    writeFileSync(path, 'users: b: c\n  token: secret\n')
    const io = capture()
    await expect(launch(['controller', '--kubeconfig', path], io)).resolves.toBe(1)
    rmSync(folder, { recursive: true })
    expect(io.texts.err).toMatch(/^KUBECONFIG_INVALID: kubeconfig \S+ is not valid: [^\n]+\n$/)
    expect(io.texts.err).not.toContain('secret')
  })

  it('names the missing folder, not the first file to write', async () => {
    const io = capture()
    await expect(launch(['dev', '--virtual', '--demo', '--record', '/does/not/exist'], io)).resolves.toBe(1)
    expect(io.texts.err).toMatch(/^FILE_UNWRITABLE: \/does\/not\/exist cannot be written: the folder \/does\/not does not exist\. /)
  })

  const unwritable: Record<string, { option: string; why: string }> = {
    'a full disk under the record': { option: '--record /dev/full', why: 'ENOSPC: no space left on device, write. Free disk space' },
    'a full disk under the log': { option: '--log /dev/full', why: 'ENOSPC: no space left on device, write. Free disk space' },
    'a folder in place of the record': { option: '--record .', why: "EISDIR: illegal operation on a directory, open '.'. Name a file" },
  }

  it.each(Object.entries(unwritable))('ends with one line about %s', async (_what, { option, why }) => {
    const io = capture()
    await expect(launch(`dev --virtual --demo --nodes 1 ${option}`.split(' '), io)).resolves.toBe(1)
    expect(io.texts.err.split('\n').filter((line) => line.startsWith('FILE_UNWRITABLE: '))).toHaveLength(1)
    expect(io.texts.err).toContain(why)
    expect(io.texts.err).not.toMatch(/^ +at /m)
  })

  it.each([
    ['a folder', '.', 'it is a folder'],
    ['a device', '/dev/null', 'it is not a regular file'],
  ])('does not replace %s with the ready file', async (_what, path, why) => {
    const io = capture()
    await expect(launch(['sim', '--ready-file', path], io)).resolves.toBe(1)
    expect(io.texts.err).toMatch(new RegExp(`^FILE_UNWRITABLE: \\S+ cannot be written: ${why}\\. [^\\n]+\\n$`))
  })

  it('prints the help of a command after the word help', async () => {
    const [word, flag] = [capture(), capture()]
    await expect(launch(['help', 'dev'], word)).resolves.toBe(0)
    await expect(launch(['dev', '--help'], flag)).resolves.toBe(0)
    expect(word.texts.out).toBe(flag.texts.out)
    expect(word.texts.out).toContain('Usage: tranche dev')
  })

  it.each(['version', '--version'])('prints its version as data: %s', async (word) => {
    const io = capture()
    await expect(launch([word], io)).resolves.toBe(0)
    expect(io.texts.out).toMatch(/^tranche \d+\.\d+\.\d+ \(Node\.js \d+\.\d+\.\d+\)\n$/)
  })

  it('prints no help that is wider than a terminal of 80 columns', async () => {
    const all = capture()
    await launch(['--help'], all)
    const commands = [...all.texts.out.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name]) => name!)
    expect(commands).toContain('plan')
    const wide: string[] = []
    for (const command of commands.filter((name) => name !== 'help')) {
      const io = capture()
      await launch([command, '--help'], io)
      wide.push(...io.texts.out.split('\n').filter((line) => line.length > 80))
    }
    expect([...wide, ...all.texts.out.split('\n').filter((line) => line.length > 80)]).toEqual([])
  })

  it('prints its help as data', async () => {
    const io = capture()
    await expect(launch(['--help'], io)).resolves.toBe(0)
    for (const command of ['dev', 'sim', 'all-in-one', 'controller', 'executor']) expect(io.texts.out).toContain(`  ${command} `)
  })
})

function capture() {
  const texts = { out: '', err: '' }
  return {
    texts,
    out: { write: (text: string) => void (texts.out += text) },
    err: { write: (text: string) => void (texts.err += text) },
    env: {},
  }
}
