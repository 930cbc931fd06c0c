import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Prints the defaults that a product's classes have: of each class named, a line with class, property, type and
 * value (tabs between) for each getter and static constant that has a plain value.
 */
public class Defaults {
    public static void main(String[] names) throws Exception {
        for (String name : names) {
            Class<?> type;
            try {
                type = Class.forName(name);
            } catch (ClassNotFoundException notThere) {
                continue;  // not in this edition
            }
            Object one = made(type);
            TreeMap<String, String> found = new TreeMap<>();
            for (Field field : type.getFields()) {
                if (Modifier.isStatic(field.getModifiers())) {
                    note(found, field.getName(), field.getType(), field.get(null));
                }
            }
            for (Method method : type.getMethods()) {
                String called = method.getName();
                int prefix = called.startsWith("get") || called.startsWith("has") ? 3 : called.startsWith("is") ? 2 : 0;
                boolean reads = prefix > 0 && called.length() > prefix && method.getParameterCount() == 0;
                boolean whole = one != null || Modifier.isStatic(method.getModifiers());
                if (reads && whole && (plain(method.getReturnType()) || method.getReturnType() == Properties.class)) {
                    try {
                        note(found, called.substring(prefix), method.getReturnType(), method.invoke(one));
                    } catch (ReflectiveOperationException notReady) {
                        continue;  // it wants a broker that runs
                    }
                }
            }
            found.forEach((property, value) -> System.out.println(name + "\t" + property + "\t" + value));
        }
        System.exit(0);  // some classes start threads
    }

    /** Returns an object of a class made without values, null if there is none. */
    private static Object made(Class<?> type) throws ReflectiveOperationException {
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (constructor.getParameterCount() == 0 && !Modifier.isAbstract(type.getModifiers())) {
                constructor.setAccessible(true);
                return constructor.newInstance();
            }
        }
        return null;
    }

    private static boolean plain(Class<?> type) {
        return type.isPrimitive() && type != void.class || type.isEnum() || type == String.class
            || Number.class.isAssignableFrom(type) || type == Boolean.class
            || type.getSimpleName().equals("SimpleString");  // Artemis' own text
    }

    private static void note(TreeMap<String, String> found, String property, Class<?> type, Object value) {
        if (value instanceof Properties) {
            ((Properties) value).forEach((key, text) -> found.put(key.toString(), "String\t" + text));
        } else if (plain(type)) {
            found.put(property, type.getSimpleName() + "\t" + value);
        }
    }
}
