/** One series of a text that Prometheus reads, at one moment. */
export interface Series {
  /** With `_bucket`, `_sum` or `_count` where it is part of a histogram. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** What a program tells Prometheus, taken apart. */
export interface Exposed {
  readonly all: readonly Series[]
  samples(name: string): readonly Series[]
  /** @returns the value of the one series with exactly these labels; NaN where there is none */
  value(name: string, labels: Readonly<Record<string, string>>): number
}

/** Reads the text format of Prometheus, as far as our programs write it. */
export function exposed(text: string): Exposed {
  const all = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value = '']) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, word]) => [label, word])),
    value: Number(value.replace('Inf', 'Infinity')),
  }))
  const samples = (name: string): readonly Series[] => all.filter((one) => one.name === name)
  return {
    all,
    samples,
    value(name, labels) {
      const text = wordOf(labels)
      return samples(name).find((one) => wordOf(one.labels) === text)?.value ?? Number.NaN
    },
  }
}

function wordOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
}
