// SPDX-License-Identifier: Apache-2.0

/**
 * Returns the workflows that a text names, with their users: "search-title=5,renew-loan=2", or
 * the same as a JSON object. "all" stands for all workflows, with one user each. Later entries
 * replace earlier ones, and 0 users remove a workflow: "all,export-default=0".
 */
export function choose(text, workflows) {
  const users = {};
  for (const [name, count] of pairs(text)) {
    if (name === 'all') Object.assign(users, Object.fromEntries(Object.keys(workflows).map((each) => [each, count])));
    else users[known(name, workflows)] = count;
  }
  const chosen = Object.keys(users).filter((name) => users[name] > 0).map((name) => ({ name, workflow: workflows[name], users: users[name] }));
  if (chosen.length === 0) throw new Error(`environment variable WORKFLOWS is "${text}", which leaves no workflow with a user`);
  return chosen;
}

function pairs(text) {
  if (text.trim().startsWith('{')) return Object.entries(parse(text)).map(([name, count]) => [name, wholeUsers(name, count)]);
  return text.split(',').map((part) => part.trim()).filter((part) => part !== '').map((part) => {
    const [name, count = '1'] = part.split('=').map((word) => word.trim());
    return [name, wholeUsers(name, count)];
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`environment variable WORKFLOWS begins with "{" and is not JSON: ${error.message}`);
  }
}

function wholeUsers(name, count) {
  const number = Number(count);
  if (!Number.isInteger(number) || number < 0 || String(count).trim() === '') {
    throw new Error(`environment variable WORKFLOWS gives ${name} "${count}" users, not a whole number`);
  }
  return number;
}

function known(name, workflows) {
  if (!workflows[name]) throw new Error(`environment variable WORKFLOWS names "${name}", not one of all, ${Object.keys(workflows).join(', ')}`);
  return name;
}
