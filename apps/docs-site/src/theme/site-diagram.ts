import { useData, withBase } from 'vitepress'
import { computed, defineComponent, h, onMounted, ref, watch } from 'vue'

interface Mermaid {
  initialize(options: object): void
  render(id: string, source: string): Promise<{ readonly svg: string }>
}

/** A wide diagram keeps its size and scrolls: shrunk to the page, its text could not be read. */
const options = { startOnLoad: false, securityLevel: 'strict', state: { useMaxWidth: false }, flowchart: { useMaxWidth: false } }

let library: Promise<Mermaid> | undefined
let drawn = 0

/** A diagram of Mermaid. Until the library is loaded, and without scripts, its source is shown. */
export const SiteDiagram = defineComponent({
  name: 'SiteDiagram',
  props: { source: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData()
    const source = computed(() => decodeURIComponent(props.source))
    const svg = ref('')
    async function draw(): Promise<void> {
      const mermaid = await (library ??= loadMermaid())
      mermaid.initialize({ ...options, theme: isDark.value ? 'dark' : 'default' })
      svg.value = (await mermaid.render(`diagram-${++drawn}`, source.value)).svg
    }
    onMounted(draw)
    watch(isDark, draw)
    return () =>
      svg.value === ''
        ? h('pre', { class: 'site-diagram', tabindex: 0 }, source.value)
        : h('div', { class: 'site-diagram', tabindex: 0, role: 'group', 'aria-label': 'Diagram', innerHTML: svg.value })
  },
})

/** The library is a file beside the pages: only pages with a diagram load its three megabytes. */
function loadMermaid(): Promise<Mermaid> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = withBase('/mermaid.js')
    script.onload = () => resolve((globalThis as unknown as { mermaid: Mermaid }).mermaid)
    script.onerror = () => reject(new Error(`${script.src} does not load`))
    document.head.append(script)
  })
}
