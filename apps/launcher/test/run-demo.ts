import { launch } from '@tranche/launcher'

/** Runs `tranche dev --virtual --demo --exit` in this process. @param args further options, separated by spaces */
export async function runDemo(args: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const texts = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({ write: (text: string) => void (texts[name] += text) })
  const code = await launch(['dev', '--virtual', '--demo', '--exit', ...args.split(' ')], {
    out: stream('out'),
    err: stream('err'),
    env: {},
  })
  return { code, ...texts }
}
