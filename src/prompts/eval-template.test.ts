import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../domain/json.ts';
import { renderEnvironment } from './env-template.ts';
import { createEvalTemplates, readsVariable, templateVars } from './eval-template.ts';

const templates = createEvalTemplates({ env: { KEY: 'secret', NAME: 'n' } });
const rendered = (raw: string, vars: JsonObject = {}, literal: string[] = []): Promise<string> =>
  templates.renderPrompt(raw, vars, new Set(literal));

describe('prompts of evals', () => {
  it('escape nothing and leave what is not defined empty', async () => {
    expect(await rendered('<{{ a }}> {{ b }}!', { a: '<&>"' })).toBe('<<&>"> !');
  });

  it('know env, loops, conditions and the filter load', async () => {
    expect(
      await rendered('{{ env.NAME }}{% for x in list %}{{ x }}{% endfor %}{{ (text | load).a }}', {
        list: [1, 2],
        text: '{"a":5}',
      }),
    ).toBe('n125');
  });

  it('put vars into vars', async () => {
    expect(await rendered('{{ a }}', { a: 'see {{ b }}', b: 'and {{c}}', c: 'end' })).toBe('see and end');
  });

  it('render vars as templates unless they mention what nobody defined', async () => {
    expect(await rendered('{{ a }}|{{ b }}', { a: '{{ x.y | upper }}', x: { y: 'up' }, b: '{{ none.z }}' })).toBe(
      'UP|{{ none.z }}',
    );
  });

  it('lose one newline at the end of a var', async () => {
    expect(await rendered('[{{ a }}]', { a: 'x\n\n' })).toBe('[x\n]');
  });

  it('that are JSON are rendered string by string and written with two spaces', async () => {
    const raw = '[{"role":"user","content":"{{ q }}"},5,null]';
    expect(await rendered(raw, { q: 'say "hi"\nthere' })).toBe(
      JSON.stringify([{ role: 'user', content: 'say "hi"\nthere' }, 5, null], null, 2),
    );
  });

  it('that are JSON are text when the escape is switched off', async () => {
    const off = createEvalTemplates({ env: {}, jsonAsText: true });
    expect(await off.renderPrompt('{"a": "{{ q }}"}', { q: '1' })).toBe('{"a": "1"}');
  });

  it('with a tag that never closes are left as they are', async () => {
    expect(await rendered('use {{ to open, {{ a }}\nand {% to', { a: 1 })).toBe('use {{ to open, {{ a }}\nand {% to');
    expect(await rendered('{% raw %}{{ kept }}{% endraw %} {{ a }}', { a: 1 })).toBe('{{ kept }} 1');
  });

  it('may use filters that answer later', async () => {
    const own = createEvalTemplates({ env: {}, filters: { shout: async (text) => `${String(text).toUpperCase()}!` } });
    expect(await own.renderPrompt('{{ a | shout }} {{ b }}', { a: 'hey', b: 2 })).toBe('HEY! 2');
  });

  it('are not rendered at all when templating is off', async () => {
    expect(await createEvalTemplates({ env: {}, off: true }).renderPrompt('{{ a }}', { a: 1 })).toBe('{{ a }}');
  });
});

describe('what models said', () => {
  it('is put in as it is: a register that holds a template reads no key', async () => {
    expect(await rendered('{{ kept }}', { kept: '{{ env.KEY }} {% if 1 %}x{% endif %}' }, ['kept'])).toBe(
      '{{ env.KEY }} {% if 1 %}x{% endif %}',
    );
  });

  it('stays data when a var of the config takes it in', async () => {
    expect(await rendered('{{ a }}', { a: 'said: {{ kept }}', kept: '{{ env.KEY }}' }, ['kept'])).toBe(
      'said: {{ env.KEY }}',
    );
  });

  it('stays data in JSON prompts and in history', async () => {
    const history = [{ input: 'q', output: '{{ env.KEY }}' }];
    expect(
      await rendered('{% for c in _conversation %}{{ c.output }}{% endfor %}', { _conversation: history }, [
        '_conversation',
      ]),
    ).toBe('{{ env.KEY }}');
    expect(await rendered('["{{ kept }}"]', { kept: '{{ env.KEY }}' }, ['kept'])).toContain('{{ env.KEY }}');
  });
});

describe('looking at templates', () => {
  it('finds the names a template mentions', () => {
    expect(
      templateVars(
        '{{ a }} {{ b.c | x }} {# {{ no }} #}{% for i in list %}{{ i }}{% endfor %}{% if d %}{% endif %}',
      ).toSorted(),
    ).toEqual(['a', 'b.c', 'd', 'list'].toSorted());
  });

  it.each([
    ['{{ _conversation }}', true],
    ['{% for m in _conversation %}{{ m.output }}{% endfor %}', true],
    ['{{ x._conversation }}', false],
    ['"_conversation" in text', false],
    ['{# _conversation #}', false],
    ['{{ "_conversation" }}', false],
    ['{% set _conversation = 1 %}', false],
    ['{{ _conversation', true],
  ])('sees whether %j reads _conversation', (template, reads) => {
    expect(readsVariable(template, '_conversation')).toBe(reads);
  });
});

describe('the environment in config text', () => {
  it('is put in where it is known, and left where it is not', () => {
    const value = {
      a: '{{ env.A }}',
      b: ['{{env["B-C"]}}', '{{ env.NONE }}'],
      c: "{{ env.NONE | default('d') }}",
      d: '{{ question }}',
    };
    expect(renderEnvironment(value, { A: '1', 'B-C': '2' })).toEqual({
      a: '1',
      b: ['2', '{{ env.NONE }}'],
      c: 'd',
      d: '{{ question }}',
    });
  });
});
